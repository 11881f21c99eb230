// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engines/autograd/parameter.h"
#include "engines/autograd/tape.h"
#include "engines/models/layers.h"

namespace howard::models {

/// The report's GPT-2: token and position embeddings, then blocks of layernorm, attention,
/// layernorm and two linear layers with gelu, then an output projection with bias and the mean
/// squared error. It has no dropout and no layernorm at the end.
struct Gpt2Options {
  std::int64_t batch = 32;
  std::int64_t sequence = 256;
  std::int64_t width = 384;
  int heads = 6;
  std::int64_t feed_forward = 1536;
  std::int64_t vocabulary = 256;
  int layers = 6;
  DataType parameters = DataType::bfloat16;
  DataType compute = DataType::bfloat16;
  /// Computes as the code was released. The gradients of weights and biases are not summed over the
  /// batch and the positions, so the first update makes each weight [batch, out, in] and each bias
  /// [sequence, out]. All layers share one buffer for the probabilities of attention, so the
  /// backward passes of all layers but the last use the last layer's.
  bool as_published = false;
  /// Uses TTML's functions, which do more in one program: biases in the products, layernorm, and
  /// the backward pass of gelu. It cannot be combined with as_published.
  bool fused = false;
};

/// Holds the parameters, inputs and targets on a device. At first only the mask has values.
class Gpt2 {
 public:
  /// Throws Error when a size is below 1 or the heads do not divide the width.
  Gpt2(Device& device, const Gpt2Options& options);
  Gpt2(const Gpt2&) = delete;
  Gpt2& operator=(const Gpt2&) = delete;

  const Gpt2Options& options() const { return options_; }
  std::vector<autograd::Parameter*> parameters();
  const ops::Tensor& tokens() const { return tokens_; }        ///< [batch, sequence] uint32
  const ops::Tensor& positions() const { return positions_; }  ///< [batch, sequence] uint32
  const ops::Tensor& target() const { return target_; }        ///< [batch, sequence, vocabulary]
  /// Writes the report's numbers: linear weights 0.01, output projection and embeddings 0.02,
  /// biases 0, gamma 1, tokens drawn by mt19937(42), positions counted, targets 0. Equal weights
  /// make equal columns, whose layernorm divides by the root of epsilon; if the gradients are
  /// summed, the loss then grows from step to step at the report's learning rate. Use
  /// write_random() to train.
  void write_constants(CommandQueue& queue);

  autograd::Value loss(autograd::Tape& tape);

 private:
  struct Layer {
    LayernormParameters attention_norm, feed_forward_norm;
    LinearParameters query, key, value, output, expand, contract;
  };

  autograd::Value block(autograd::Tape& tape, autograd::Value x, Layer& layer,
                        std::optional<autograd::Value> probabilities);
  autograd::Value linear(autograd::Tape& tape, autograd::Value x, LinearParameters& layer) const;
  autograd::Value layernorm(autograd::Tape& tape, autograd::Value x,
                            LayernormParameters& scale) const;
  autograd::WeightGradient weight_gradient() const;

  Gpt2Options options_;
  autograd::Parameter token_table_, position_table_;
  std::vector<Layer> layers_;
  LinearParameters head_;
  ops::Tensor mask_;
  ops::Tensor tokens_, positions_, target_;
};

}  // namespace howard::models
