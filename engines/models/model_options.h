// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engines/autograd/functions/collective/collectives.h"
#include "engines/models/deepseek_options.h"
#include "engines/models/rotary_angles.h"
#include "engines/program/tensor_spec.h"

namespace howard::models {

enum class ModelKind : std::uint8_t { nano_gpt, llama, qwen3, mlp, deepseek };

/// Low-rank adapters (LoRA): matrices A [rank, in] and B [out, rank] beside a weight, whose product
/// of x is added to the weight's. They alone are trained.
struct LoraOptions {
  int rank = 0;                  ///< 0 means no adapters.
  float alpha = 16;              ///< The product is multiplied by alpha / rank.
  bool rank_stabilized = false;  ///< It is multiplied by alpha / sqrt(rank) instead.
  /// The patterns, between blanks, of names of layers with dots: a layer that one is found in has
  /// adapters.
  std::string targets;

  float scale() const;

  friend bool operator==(const LoraOptions&, const LoraOptions&) = default;
};

/// The sizes and the forms of a model of TTML (nano_gpt.h, llama.h, qwen3.h, deepseek.h,
/// classifier.h), with the sizes of its nanogpt and nanollama3. What is for one kind alone has no
/// effect on the other.
struct ModelOptions {
  ModelKind kind = ModelKind::nano_gpt;
  std::int64_t batch = 32;
  std::int64_t sequence = 256;
  std::int64_t width = 384;
  int heads = 6;
  int groups = 3;               ///< The number of heads of keys and values of a llama or a qwen3.
  std::int64_t head_width = 0;  ///< A qwen3's; 0 means the width divided by the heads.
  int layers = 6;
  /// 0 means four times the width, or the rule of a llama, a qwen3 and the first blocks of a
  /// deepseek (feed_forward_of).
  std::int64_t feed_forward = 0;
  /// The widths of the hidden layers of an mlp (classifier.h), whose `width` is that of a picture
  /// and whose `vocabulary` is the number of classes.
  std::vector<std::int64_t> hidden;
  std::int64_t vocabulary = 96;  ///< 65 characters and 3 marks, rounded up to whole tiles.
  float dropout = 0;
  float theta = 10000;    ///< The base of the rotary angles of a llama, a qwen3 or a deepseek.
  RopeScaling scaling{};  ///< For a llama.
  DeepSeekOptions deepseek{};
  DataType parameters = DataType::bfloat16;
  DataType compute = DataType::bfloat16;  ///< The type of products and activations.
  bool fused_gelu_backward = true;        ///< If false, a nano_gpt uses ttnn's composite.
  /// If true, blocks keep only their input and run forward once more in the backward pass, as with
  /// TTML's runner "memory_efficient".
  bool memory_efficient = false;
  bool tied = false;  ///< If true, the head multiplies by the token table: one parameter.
  /// If true, sinusoids replace a nano_gpt's learned positions: columns 2i and 2i + 1 are the sine
  /// and the cosine of position / 10000^(2i / width).
  bool fixed_positions = false;
  bool composite_layernorm = false;  ///< A nano_gpt's is made of small ops; otherwise one program.
  /// If true, TTML's attention kernels are used: one program forward and two backward, in which a
  /// llama shares keys and values among heads without repeating them. Otherwise attention is made
  /// of products, a softmax and small ops.
  bool fused_attention = false;
  /// If true, a program multiplies the gradient of the logits by that of the loss
  /// (SlopeForm::multiplied); otherwise their kernel does.
  bool scaled_slopes = false;
  /// If true, a llama's RMS norms are made of TTML's single calls; otherwise they are one program
  /// each way.
  bool composite_rms_norm = false;
  /// If true, a llama's feed-forward part is TTML's one program forward, and backward its first two
  /// products are computed again; otherwise it is made of three products and two elementwise calls.
  bool fused_swiglu = false;
  /// If true, SwiGLU of three products has one program that joins two of them, and one for their
  /// gradients, as in TTML of 2026. Devices that divide layers and adapters have single calls.
  bool joined_swiglu = false;
  LoraOptions lora{};  ///< For a llama or a qwen3.
  /// For tensor parallelism, the model is the share of one device of this group. Heads, groups,
  /// feed-forward columns and rows of the head are divided; everything else is on each device. The
  /// group must outlive the model; null stands for one device alone.
  const autograd::DeviceGroup* group = nullptr;
  /// If true, a llama's group computes the loss of divided logits (sharded_cross_entropy) instead
  /// of gathering the logits on each device.
  bool sharded_loss = false;
  /// If true, the devices of a llama's group divide the columns of the token table, and gather
  /// those of the rows that they have looked up.
  bool divided_table = false;
  /// If true, the devices of a llama's group divide the rows of the residual stream and of its
  /// norms (sequence parallelism): they gather them before the layers that they divide, and each
  /// keeps its rows of the sums behind them.
  bool sequence_parallel = false;
  /// The devices that divide each parameter (divided_parameter.h); it must outlive the model. Null
  /// stands for one device alone.
  const autograd::DeviceGroup* sharers = nullptr;
  /// If true, parameters that devices divide are allocated as shares; otherwise each device has the
  /// whole model at first, as in TTML without lazy_parameter_init.
  bool lazy_parameters = false;
  /// For pipelines, a llama has the blocks from `first_block` up to, but not including,
  /// `end_block`. The first block comes with the token table, and the last one with the last norm
  /// and the head.
  int first_block = 0;
  int end_block = 0;  ///< 0 means all blocks.

  /// Returns the columns of a head of q and k.
  std::int64_t head_columns() const {
    if (kind == ModelKind::deepseek) return deepseek.head_columns();
    return head_width > 0 ? head_width : width / heads;
  }
  /// Returns the columns of a head of v.
  std::int64_t value_columns() const {
    return kind == ModelKind::deepseek ? deepseek.value_width : head_columns();
  }
  bool joins_swiglu() const { return joined_swiglu && shards() == 1 && lora.rank == 0; }
  int shards() const { return group == nullptr ? 1 : group->devices(); }
  bool divides_parameters() const { return sharers != nullptr && sharers->devices() > 1; }
  bool divides_table() const { return divided_table && shards() > 1; }
  bool divides_rows() const { return sequence_parallel && shards() > 1; }
  /// Returns the shape of what goes from block to block on one device.
  Shape stream() const {
    return {batch, 1, divides_rows() ? sequence / shards() : sequence, width};
  }
  bool has_input() const { return first_block == 0; }
  bool has_output() const { return end_block == 0 || end_block == layers; }

  /// Returns these options with so many rows of the token table, for one device of a group. The
  /// classes of an mlp stay.
  ModelOptions with(std::int64_t rows, const autograd::DeviceGroup* of = nullptr,
                    bool divides = false) const {
    ModelOptions options = *this;
    if (kind != ModelKind::mlp) options.vocabulary = rows;
    options.group = of;
    options.sequence_parallel = divides;
    return options;
  }

  friend bool operator==(const ModelOptions&, const ModelOptions&) = default;
};

}  // namespace howard::models
