// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engines/autograd/functions/rows/rms_norm.h"
#include "engines/autograd/parameter.h"
#include "engines/autograd/tape.h"
#include "engines/models/adapters.h"
#include "engines/models/language_model.h"
#include "engines/models/model_options.h"
#include "engines/models/rotary_tensors.h"

namespace howard::models {

/// This is added to the mean of the squares.
inline constexpr float kQwenEpsilon = 1e-6F;

/// TTML's Qwen3. It is a Llama whose heads have a width of their own, and whose queries and keys
/// have an RMS norm over each head before the rotary positions. Queries, keys and values are
/// projected each by itself, and keys and values are then joined. Its norms are single calls. There
/// is no dropout.
///
/// It holds parameters, inputs and targets on a device, and devices share it by the batch alone.
/// Only the mask and the angles have values at first; write_random() gives the parameters theirs.
/// They have TTML's names, such as "qwen3/blocks/0/self_attn/q_proj/weight".
class Qwen3 final : public LanguageModel {
 public:
  /// Throws Error when a size is below 1, the groups do not divide the heads, the width of a head
  /// is odd, there is a dropout, or the model is to be a part of itself.
  Qwen3(Device& device, const ModelOptions& options);
  Qwen3(const Qwen3&) = delete;
  Qwen3& operator=(const Qwen3&) = delete;

  const ModelOptions& options() const { return options_; }
  std::vector<autograd::Parameter*> parameters() override;
  const ops::Tensor& tokens() const override { return tokens_; }
  const ops::Tensor& targets() const override { return targets_; }
  DataType compute() const override { return options_.compute; }
  autograd::Value logits(autograd::Tape& tape, const ops::Tensor& tokens) override;
  autograd::Value loss(autograd::Tape& tape, const ops::Tensor& tokens,
                       const ops::Tensor& targets) override;
  autograd::Value loss(autograd::Tape& tape) { return loss(tape, tokens_, targets_); }
  std::unique_ptr<LanguageModel> of_one_sequence(Device& device) const override;

 private:
  struct Layer {
    autograd::Parameter input_norm;  ///< [1, width], like the norm of the feed-forward part.
    autograd::Parameter query, key, value, output;
    autograd::Parameter query_norm, key_norm;  ///< [1, width of a head]
    autograd::Parameter feed_forward_norm;
    autograd::Parameter gate, up, down;

    std::vector<autograd::Parameter*> all();
  };

  void write_constants(CommandQueue& queue);
  autograd::Value block(autograd::Tape& tape, autograd::Value x, int index);
  autograd::Value attention(autograd::Tape& tape, autograd::Value x, Layer& layer);

  ModelOptions options_;
  autograd::Parameter token_table_;
  std::vector<Layer> layers_;
  autograd::Parameter last_norm_;
  std::optional<autograd::Parameter> head_;  ///< Absent when tied.
  std::optional<Adapters> adapters_;         ///< Present once the parameters are made.
  ops::Tensor mask_;
  RotaryTensors angles_;
  ops::Tensor tokens_, targets_;
};

}  // namespace howard::models
