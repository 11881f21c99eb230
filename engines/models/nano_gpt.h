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

namespace howard::models {

/// TTML's nano_gpt, with the sizes of its nanogpt configuration. It has learned positions, blocks
/// of layernorm, fused query-key-value projection, attention, layernorm and two linear layers with
/// gelu, a last layernorm, an output projection without bias, and the cross-entropy. Dropout
/// follows the embedding and both halves of each block.
struct NanoGptOptions {
  std::int64_t batch = 32;
  std::int64_t sequence = 256;
  std::int64_t width = 384;
  int heads = 6;
  int layers = 6;
  std::optional<std::int64_t> feed_forward{};  ///< Four times the width by default.
  std::int64_t vocabulary = 96;  ///< 65 characters and 3 marks, rounded up to whole tiles.
  float dropout = 0.2F;
  DataType parameters = DataType::bfloat16;
  DataType compute = DataType::bfloat16;
  bool fused_gelu_backward = true;  ///< If false, ttnn's composite is used.
  /// If true, blocks keep only their input and run forward once more in the backward pass, as with
  /// TTML's runner "memory_efficient".
  bool memory_efficient = false;
  bool tied = false;  ///< If true, the head multiplies by the token table: one parameter.
  /// If true, sinusoids replace the learned positions: columns 2i and 2i + 1 are the sine and the
  /// cosine of position / 10000^(2i / width).
  bool fixed_positions = false;
  bool composite_layernorm = false;  ///< Made of small ops; otherwise one program each way.
  /// If true, TTML's attention kernels are used: one program forward and two backward. Otherwise
  /// attention is made of products, a softmax and small ops.
  bool fused_attention = false;
  /// For tensor parallelism, the model is the share of one device of this group. Heads, the columns
  /// between the two linear layers and the rows of the head are divided; everything else is on each
  /// device. The group must outlive the model; null stands for one device alone.
  const autograd::DeviceGroup* group = nullptr;

  int shards() const { return group == nullptr ? 1 : group->devices(); }
};

/// Holds parameters, inputs and targets on a device. Only the mask has values at first;
/// write_random() gives the parameters theirs.
class NanoGpt final : public LanguageModel {
 public:
  /// Throws Error when a size is below 1, the heads do not divide the width, or a size does not
  /// divide into equal shares.
  NanoGpt(Device& device, const NanoGptOptions& options);
  NanoGpt(const NanoGpt&) = delete;
  NanoGpt& operator=(const NanoGpt&) = delete;

  const NanoGptOptions& options() const { return options_; }
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
  };

  autograd::Value block(autograd::Tape& tape, autograd::Value x, int index);
  autograd::Value row_parallel(autograd::Tape& tape, autograd::Value x,
                               LinearParameters& layer) const;
  /// Attention of `qkv` [batch, 1, sequence, 3 columns], as [batch, 1, sequence, columns].
  autograd::Value attention(autograd::Tape& tape, autograd::Value qkv) const;
  autograd::Value layernorm(autograd::Tape& tape, autograd::Value x,
                            LayernormParameters& scale) const;

  NanoGptOptions options_;
  autograd::Parameter token_table_;
  autograd::Parameter position_table_;  ///< A constant if positions are fixed.
  std::vector<Layer> layers_;
  LayernormParameters last_norm_;
  std::optional<autograd::Parameter> head_;  ///< Absent when tied.
  ops::Tensor mask_;
  ops::Tensor tokens_, targets_;
};

}  // namespace howard::models
