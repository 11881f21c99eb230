// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "engines/autograd/parameter.h"
#include "engines/autograd/tape.h"
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
  std::int64_t vocabulary = 96;  ///< 65 characters and 3 marks, rounded up to whole tiles.
  float dropout = 0.2F;
  DataType parameters = DataType::bfloat16;
  DataType compute = DataType::bfloat16;
  bool fused_gelu_backward = true;  ///< If false, ttnn's composite is used.
  /// As TTML's runner "memory_efficient": blocks keep only their input and run forward once more in
  /// the backward pass.
  bool memory_efficient = false;
};

/// How TTML multiplies matrices: on 7 columns and 8 rows of cores wherever that fits, with all
/// passes over the mantissa and float32 sums. Use this for CallOptions::products.
inline constexpr MatmulAttributes kTtmlProducts{
    .core_grid = CoreGrid{.columns = 7, .rows = 8},
    .compute = {.fidelity = MathFidelity::hifi4, .fp32_accumulation = true}};

/// Holds the parameters, inputs and targets on a device. At first only the mask has values;
/// write_random gives the parameters theirs.
class NanoGpt {
 public:
  /// Throws Error when a size is below 1 or the heads do not divide the width.
  NanoGpt(Device& device, const NanoGptOptions& options);
  NanoGpt(const NanoGpt&) = delete;
  NanoGpt& operator=(const NanoGpt&) = delete;

  const NanoGptOptions& options() const { return options_; }
  std::vector<autograd::Parameter*> parameters();
  const ops::Tensor& tokens() const { return tokens_; }    ///< [batch, sequence] uint32
  const ops::Tensor& targets() const { return targets_; }  ///< [batch, sequence] uint32

  /// Returns logits [batch, 1, sequence, vocabulary] for `tokens`, which must have the spec of
  /// tokens().
  autograd::Value logits(autograd::Tape& tape, const ops::Tensor& tokens);
  /// Returns the loss for a batch in other tensors, as gradient accumulation needs it.
  autograd::Value loss(autograd::Tape& tape, const ops::Tensor& tokens, const ops::Tensor& targets);
  autograd::Value loss(autograd::Tape& tape) { return loss(tape, tokens_, targets_); }

 private:
  struct Layer {
    LayernormParameters attention_norm;
    LinearParameters query_key_value, output;
    LayernormParameters feed_forward_norm;
    LinearParameters expand, contract;
  };

  autograd::Value block(autograd::Tape& tape, autograd::Value x, int index);

  NanoGptOptions options_;
  autograd::Parameter token_table_, position_table_;
  std::vector<Layer> layers_;
  LayernormParameters last_norm_;
  autograd::Parameter head_;
  ops::Tensor mask_;
  ops::Tensor tokens_, targets_;
};

}  // namespace howard::models
