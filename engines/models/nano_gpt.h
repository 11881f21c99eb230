// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engines/autograd/functions/collective/collectives.h"
#include "engines/autograd/parameter.h"
#include "engines/autograd/tape.h"
#include "engines/models/language_model.h"
#include "engines/models/layers.h"
#include "engines/models/model_options.h"

namespace howard::models {

/// TTML's nano_gpt. It has learned positions, blocks of layernorm, fused query-key-value
/// projection, attention, layernorm and two linear layers with gelu, a last layernorm, an output
/// projection without bias, and the cross-entropy. Dropout follows the embedding and both halves of
/// each block.
///
/// It holds parameters, inputs and targets on a device. Only the mask has values at first;
/// write_random() gives the parameters theirs.
class NanoGpt final : public LanguageModel {
 public:
  /// Throws Error when a size is below 1, the heads do not divide the width, or a size does not
  /// divide into equal shares.
  NanoGpt(Device& device, const ModelOptions& options);
  NanoGpt(const NanoGpt&) = delete;
  NanoGpt& operator=(const NanoGpt&) = delete;

  const ModelOptions& options() const { return options_; }
  std::vector<autograd::Parameter*> parameters() override;
  const ops::Tensor& tokens() const override { return tokens_; }
  const ops::Tensor& targets() const override { return targets_; }
  DataType compute() const override { return options_.compute; }
  autograd::Value logits(autograd::Tape& tape, const ops::Tensor& tokens) override;
  autograd::Value loss(autograd::Tape& tape, const ops::Tensor& tokens,
                       const ops::Tensor& targets) override;
  std::unique_ptr<LanguageModel> of_one_sequence(Device& device) const override;
  autograd::Value loss(autograd::Tape& tape) { return loss(tape, tokens_, targets_); }

 private:
  struct Layer {
    LayernormParameters attention_norm;
    LinearParameters query_key_value, output;
    LayernormParameters feed_forward_norm;
    LinearParameters expand, contract;

    std::vector<autograd::Parameter*> all();
  };

  autograd::Value block(autograd::Tape& tape, autograd::Value x, int index);
  autograd::Value row_parallel(autograd::Tape& tape, autograd::Value x,
                               LinearParameters& layer) const;
  /// Attention of `qkv` [batch, 1, sequence, 3 columns], as [batch, 1, sequence, columns].
  autograd::Value attention(autograd::Tape& tape, autograd::Value qkv) const;
  autograd::Value layernorm(autograd::Tape& tape, autograd::Value x,
                            LayernormParameters& scale) const;

  ModelOptions options_;
  autograd::Parameter token_table_;
  autograd::Parameter position_table_;  ///< A constant if positions are fixed.
  std::vector<Layer> layers_;
  LayernormParameters last_norm_;
  std::optional<autograd::Parameter> head_;  ///< Absent when tied.
  ops::Tensor mask_;
  ops::Tensor tokens_, targets_;
};

}  // namespace howard::models
