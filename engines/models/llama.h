// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engines/autograd/functions/collective/collectives.h"
#include "engines/autograd/functions/rows/rms_norm.h"
#include "engines/autograd/functions/rows/sharded_loss.h"
#include "engines/autograd/parameter.h"
#include "engines/autograd/tape.h"
#include "engines/models/language_model.h"
#include "engines/models/layers.h"
#include "engines/models/rotary_angles.h"

namespace howard::models {

/// TTML's Llama, with the sizes of its nanollama3. A block has an RMS norm, attention with rotary
/// positions whose keys and values are shared by groups of heads, another RMS norm, and the
/// feed-forward part w2(silu(w1 x) * w3 x), all without biases; dropout follows both halves. After
/// the blocks come a last RMS norm, an output projection and the cross-entropy.
struct LlamaOptions {
  std::int64_t batch = 64;
  std::int64_t sequence = 256;
  std::int64_t width = 384;
  int heads = 6;
  int groups = 3;  ///< The number of heads of keys and values.
  int layers = 6;
  std::int64_t feed_forward = 0;  ///< 0 means feed_forward_of(width).
  std::int64_t vocabulary = 96;
  float dropout = 0;
  float theta = 10000;  ///< The base of the rotary angles.
  RopeScaling scaling;
  DataType parameters = DataType::bfloat16;
  DataType compute = DataType::bfloat16;
  /// If true, blocks keep only their input and run forward once more in the backward pass, as with
  /// TTML's runner "memory_efficient".
  bool memory_efficient = false;
  bool tied = false;  ///< If true, the head multiplies by the token table: one parameter.
  /// If true, TTML's attention kernels are used: one program forward and two backward, which share
  /// keys and values among heads without repeating them.
  bool fused_attention = false;
  /// If true, RMS norms are made of TTML's single calls; otherwise they are one program each way.
  bool composite_rms_norm = false;
  /// If true, the feed-forward part is TTML's one program forward, and backward its first two
  /// products are computed again; otherwise it is made of three products and two elementwise calls.
  bool fused_swiglu = false;
  /// For tensor parallelism, the model is the share of one device of this group. Heads, groups,
  /// feed-forward columns and rows of the head are divided; everything else is on each device. The
  /// group must outlive the model; null stands for one device alone.
  const autograd::DeviceGroup* group = nullptr;
  /// If true, a group computes the loss of divided logits (sharded_cross_entropy) instead of
  /// gathering the logits on each device.
  bool sharded_loss = false;
  /// If true, the devices of a group divide the rows of the residual stream and of its norms
  /// (sequence parallelism): they gather them before the layers that they divide, and each keeps
  /// its rows of the sums behind them.
  bool sequence_parallel = false;
  /// For pipelines, the model has the blocks from `first_block` up to, but not including,
  /// `end_block`. The first block comes with the token table, and the last one with the last norm
  /// and the head.
  int first_block = 0;
  int end_block = 0;  ///< 0 means all blocks.

  int shards() const { return group == nullptr ? 1 : group->devices(); }
  bool divides_rows() const { return sequence_parallel && shards() > 1; }
  /// Returns the shape of what goes from block to block on one device.
  Shape stream() const {
    return {batch, 1, divides_rows() ? sequence / shards() : sequence, width};
  }
  bool has_input() const { return first_block == 0; }
  bool has_output() const { return end_block == 0 || end_block == layers; }
};

/// Returns 8/3 of the width, rounded up to a multiple of 256, which is Llama's rule.
std::int64_t feed_forward_of(std::int64_t width);

/// Returns the number of values that one share of all blocks trains, without making the model.
std::int64_t parameter_count(const LlamaOptions& options);

/// This is added to the mean of the squares.
inline constexpr float kRmsEpsilon = 1e-5F;

/// Holds parameters, inputs and targets on a device. Only the mask and the angles have values at
/// first; write_random() gives the parameters theirs. Parameters have TTML's names, such as
/// "llama/llama_block_0/attention/q_linear/weight".
class Llama final : public LanguageModel {
 public:
  /// Throws Error when a size is below 1, the heads do not divide the width, the groups do not
  /// divide the heads, the width of a head is odd, a size does not divide into equal shares, or
  /// there are no such blocks.
  Llama(Device& device, const LlamaOptions& options);
  Llama(const Llama&) = delete;
  Llama& operator=(const Llama&) = delete;

  const LlamaOptions& options() const { return options_; }
  std::vector<autograd::Parameter*> parameters() override;
  const ops::Tensor& tokens() const override { return tokens_; }
  const ops::Tensor& targets() const override { return targets_; }
  DataType compute() const override { return options_.compute; }
  autograd::Value logits(autograd::Tape& tape, const ops::Tensor& tokens) override;
  autograd::Value loss(autograd::Tape& tape, const ops::Tensor& tokens,
                       const ops::Tensor& targets) override;
  autograd::Value loss(autograd::Tape& tape) { return loss(tape, tokens_, targets_); }

  // These are the parts of the forward pass; a stage of a pipeline has some of them. Activations
  // are [batch, 1, sequence, width].
  autograd::Value embedded(autograd::Tape& tape, const ops::Tensor& tokens);
  autograd::Value blocks(autograd::Tape& tape, autograd::Value x);
  autograd::Value loss_of(autograd::Tape& tape, autograd::Value x, const ops::Tensor& targets);
  autograd::Value logits_of(autograd::Tape& tape, autograd::Value x);

  std::unique_ptr<LanguageModel> of_one_sequence(Device& device) const override;

 private:
  friend class CachedLlama;  // It reads token after token with the same layers.

  struct Layer {
    autograd::Parameter attention_norm;  ///< [1, width], like the other norms.
    autograd::Parameter query, key_value, output;
    autograd::Parameter feed_forward_norm;
    autograd::Parameter w1, w2, w3;  ///< The gate, down and up projections.
  };

  /// Writes the mask and the angles.
  void write_constants(CommandQueue& queue);
  autograd::Value block(autograd::Tape& tape, autograd::Value x, int index);
  autograd::Value attention(autograd::Tape& tape, autograd::Value x, Layer& layer);
  /// Returns the logits that this device has.
  autograd::Value own_logits(autograd::Tape& tape, autograd::Value x);
  autograd::Value feed_forward(autograd::Tape& tape, autograd::Value x, Layer& layer);

  LlamaOptions options_;
  std::optional<autograd::Parameter> token_table_;  ///< Present only in a first stage.
  std::vector<Layer> layers_;
  std::optional<autograd::Parameter> last_norm_;  ///< Present only in a last stage.
  std::optional<autograd::Parameter> head_;  ///< Present only in a last stage, unless it is tied.
  std::optional<autograd::VocabularyShare> vocabulary_share_;
  ops::Tensor mask_;
  ops::Tensor cosines_, sines_, negative_sines_;
  ops::Tensor tokens_, targets_;
};

}  // namespace howard::models
