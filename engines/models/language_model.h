// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engines/autograd/parameter.h"
#include "engines/autograd/tape.h"
#include "engines/models/model_options.h"

namespace howard::models {

/// A model that predicts what follows each token of a sequence, with its parameters, inputs and
/// targets on a device.
class LanguageModel {
 public:
  virtual ~LanguageModel() = default;

  /// Returns each parameter once, even if two layers share it.
  virtual std::vector<autograd::Parameter*> parameters() = 0;
  /// Returns what later steps depend on besides, and no optimizer updates.
  virtual std::vector<autograd::Parameter*> buffers() { return {}; }
  /// [batch, sequence] uint32; of an mlp the pictures, [batch, 1, 1, width].
  virtual const ops::Tensor& tokens() const = 0;
  virtual const ops::Tensor& targets() const = 0;  ///< [batch, sequence] uint32
  virtual DataType compute() const = 0;            ///< The type of products and activations.

  /// Returns logits [batch, 1, sequence, vocabulary] of `tokens`, which have the spec of tokens().
  virtual autograd::Value logits(autograd::Tape& tape, const ops::Tensor& tokens) = 0;
  /// Returns the mean cross-entropy of a batch that lies anywhere on the device.
  virtual autograd::Value loss(autograd::Tape& tape, const ops::Tensor& tokens,
                               const ops::Tensor& targets) = 0;

  /// Does what the host does after each update of an optimizer.
  virtual void after_update(CommandQueue& /*queue*/) {}

  /// Writes values of a corpus, row by row, into a tensor with the spec of tokens().
  virtual void write_tokens(CommandQueue& queue, const ops::Tensor& to,
                            std::span<const std::uint32_t> values) const;

  /// Makes the same model for one sequence, without dropout and without values.
  virtual std::unique_ptr<LanguageModel> of_one_sequence(Device& device) const = 0;
};

/// Makes a model of these sizes, in which only the mask has values. Throws Error as the model does.
std::unique_ptr<LanguageModel> make_model(Device& device, const ModelOptions& options);

/// Gives the parameters and buffers of `to` the values of those of `from`, a model of the same
/// sizes.
void copy_parameters(CommandQueue& queue, LanguageModel& from, LanguageModel& to);

/// Says how TTML multiplies matrices: on 7 columns and 8 rows of cores wherever that fits, with all
/// passes over the mantissa and float32 sums. It is meant for CallOptions::products.
inline constexpr MatmulAttributes kTtmlProducts{
    .core_grid = CoreGrid{.columns = 7, .rows = 8},
    .compute = {.fidelity = MathFidelity::hifi4, .fp32_accumulation = true}};

}  // namespace howard::models
