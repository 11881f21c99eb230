// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "engines/device/compute_config.h"
#include "engines/device/eltwise.h"
#include "engines/device/matmul_config.h"
#include "engines/device/optimizer_attributes.h"

namespace howard {

/// Computes C[batch, m, n] = A[batch, m, k] B[k, n]. B may also be [batch, k, n], or A may be [m,
/// k] with B [batch, k, n]. A third operand, the bias, is a row [n] that is added. Either factor
/// may be stored with rows and columns swapped. The planner of the device chooses the rest.
struct MatmulAttributes {
  bool transpose_a = false;           ///< A is stored as [batch, k, m].
  bool transpose_b = false;           ///< B is stored as [n, k] or [batch, n, k].
  std::optional<CoreGrid> core_grid;  ///< The core_grid argument of ttnn: a size, placed at (0,0).
  ComputeConfig compute;
  std::optional<MatmulConfig> config;  ///< ttnn's program_config, in place of its own choice.
  /// This function is applied to each element of the result. A device may do so in the product's
  /// kernel.
  std::optional<EltwiseStep> activation{};

  friend constexpr auto operator<=>(const MatmulAttributes&, const MatmulAttributes&) = default;
};

/// Computes out = function(x, y, z) for each element, with as many values as the function takes.
/// Tensors broadcast as in ttnn: a dimension of one fits any other.
struct EltwiseAttributes {
  Eltwise function{};
  std::optional<float> scalar;        ///< The last value, where it is no tensor; what fill writes.
  std::optional<CoreGrid> core_grid;  ///< ttnn's sub_core_grids: the cores to use.
  /// The numbers that the function takes besides.
  std::array<float, kMostEltwiseNumbers> numbers{};
  /// These functions of one value follow in the same kernel, each applied to the result of the one
  /// before. They are ttnn's unary chain, or the fused activations of a binary op.
  std::vector<EltwiseStep> then{};
  /// The first or the second tensor goes through these functions of one value first, one after the
  /// other: ttnn's input_tensor_a_activations and input_tensor_b_activations.
  std::vector<EltwiseStep> on_a{}, on_b{};

  /// Says whether the function is all that is computed.
  bool is_plain() const { return then.empty() && on_a.empty() && on_b.empty(); }

  friend auto operator<=>(const EltwiseAttributes&, const EltwiseAttributes&) = default;
};

enum class Reduction : std::uint8_t { sum, mean, max };

/// Returns "sum", "mean" or "max".
std::string_view name_of(Reduction reduction);

/// The dimension that an op works along: `columns` is the last one, `batch` stands for all
/// dimensions before the rows.
enum class Dimension : std::uint8_t { columns, rows, batch, all };

/// Reduces `dimension` to a size of one: out[..., 1] and so on.
struct ReduceAttributes {
  Reduction reduction{};
  Dimension dimension{};
  /// If true, ttnn's moreh_sum and moreh_mean are used, which accumulate in fp32.
  bool moreh = false;

  friend auto operator<=>(const ReduceAttributes&, const ReduceAttributes&) = default;
};

/// Says which two dimensions of [n, c, h, w] are swapped.
enum class Swap : std::uint8_t {
  rows_columns,  ///< h and w, as ttnn's transpose WH
  heads_rows,    ///< c and h, as ttnn's transpose HC
};

struct TransposeAttributes {
  Swap swap = Swap::rows_columns;

  friend auto operator<=>(const TransposeAttributes&, const TransposeAttributes&) = default;
};

/// Keeps the elements in row order under another shape, in tile layout; this moves data.
struct ReshapeAttributes {
  friend auto operator<=>(const ReshapeAttributes&, const ReshapeAttributes&) = default;
};

/// Tilizes or untilizes: the result is the same tensor in the output's layout.
struct LayoutAttributes {
  friend auto operator<=>(const LayoutAttributes&, const LayoutAttributes&) = default;
};

/// Concatenates all operands along the columns.
struct ConcatAttributes {
  int dimension = 3;

  friend auto operator<=>(const ConcatAttributes&, const ConcatAttributes&) = default;
};

/// Splits [n, 1, s, 3 heads d] into q, k and v, each [n, heads, s, d]. The columns hold q first,
/// then k, then v.
struct SplitHeadsAttributes {
  int heads = 1;

  friend auto operator<=>(const SplitHeadsAttributes&, const SplitHeadsAttributes&) = default;
};

/// Turns [n, heads, s, d] into [n, 1, s, heads d].
struct ConcatHeadsAttributes {
  friend auto operator<=>(const ConcatHeadsAttributes&, const ConcatHeadsAttributes&) = default;
};

/// Computes exp(x) / (sum of exp(x)) along the columns.
struct SoftmaxAttributes {
  friend auto operator<=>(const SoftmaxAttributes&, const SoftmaxAttributes&) = default;
};

/// Computes dx = y (dy - sum of y dy along the columns) from y and dy. This is ttnn's
/// moreh_softmax_backward.
struct SoftmaxBackwardAttributes {
  friend auto operator<=>(const SoftmaxBackwardAttributes&,
                          const SoftmaxBackwardAttributes&) = default;
};

/// Computes y = (x - mean) rstd gamma + beta along the columns. The inputs are x alone, or x, gamma
/// and beta. The outputs are y alone, or y, mean and rstd = 1 / sqrt(variance + epsilon).
struct LayernormAttributes {
  float epsilon = 1e-5F;

  friend auto operator<=>(const LayernormAttributes&, const LayernormAttributes&) = default;
};

/// Computes dx from x, gamma, mean, rstd and dy, and for each row the terms whose sums over the
/// rows are dgamma and dbeta.
struct LayernormBackwardAttributes {
  friend auto operator<=>(const LayernormBackwardAttributes&,
                          const LayernormBackwardAttributes&) = default;
};

/// Computes y = gamma x / sqrt(mean of x^2 + epsilon) along the columns. The inputs are x alone, or
/// x and gamma; the outputs are y alone, or y and the root.
struct RmsNormAttributes {
  float epsilon = 1e-5F;

  friend auto operator<=>(const RmsNormAttributes&, const RmsNormAttributes&) = default;
};

/// Computes dx from x, gamma, the root and dy, and for each row the terms whose sum is dgamma.
struct RmsNormBackwardAttributes {
  friend auto operator<=>(const RmsNormBackwardAttributes&,
                          const RmsNormBackwardAttributes&) = default;
};

/// Says which two columns of a row of d are the coordinates of a point that is rotated.
enum class RotaryStyle : std::uint8_t {
  pairs,   ///< 2 i and 2 i + 1: ttnn's rotary_embedding_llama.
  halves,  ///< i and i + d / 2: ttnn's rotary_embedding.
};

/// Rotates each point (a, b) of x [n, h, s, d] to (a cos - b sin, b cos + a sin). The inputs are x,
/// and the cosines and sines [s or more, d] of each place in the sequence.
struct RotaryEmbeddingAttributes {
  RotaryStyle style = RotaryStyle::pairs;

  friend auto operator<=>(const RotaryEmbeddingAttributes&,
                          const RotaryEmbeddingAttributes&) = default;
};

/// Computes dx from x and dy, for the exact gelu.
struct GeluBackwardAttributes {
  /// If true, TTML's single program is used; otherwise ttnn's composite of eleven programs.
  bool fused = false;

  friend auto operator<=>(const GeluBackwardAttributes&, const GeluBackwardAttributes&) = default;
};

/// Looks up one row of a table [v, d] for each index: indices [..., s] give [..., s, d].
struct EmbeddingAttributes {
  friend auto operator<=>(const EmbeddingAttributes&, const EmbeddingAttributes&) = default;
};

/// Computes the gradient of the table from the indices and dy: for each index, the sum of dy over
/// its positions.
struct EmbeddingBackwardAttributes {
  friend auto operator<=>(const EmbeddingBackwardAttributes&,
                          const EmbeddingBackwardAttributes&) = default;
};

/// Takes logits [..., s, v] and targets [..., s]. The result [..., s, 1] is log(sum of exp) - logit
/// of the target.
struct CrossEntropyAttributes {
  bool of_logarithms = false;  ///< The result is minus the operand at the target: an NLL.

  friend auto operator<=>(const CrossEntropyAttributes&, const CrossEntropyAttributes&) = default;
};

/// Computes scale (softmax - one at the target) from logits and targets.
struct CrossEntropyBackwardAttributes {
  float scale = 1;
  bool of_logarithms = false;  ///< The result is -scale at the target and 0 elsewhere.

  friend auto operator<=>(const CrossEntropyBackwardAttributes&,
                          const CrossEntropyBackwardAttributes&) = default;
};

/// Computes x / (1 - probability), or 0 with that probability. The same seed drops the same
/// elements. An optional second operand, one uint32, is added to the seed when the program runs, so
/// that a replayed trace need not drop the same elements each time.
struct DropoutAttributes {
  float probability = 0;
  std::uint32_t seed = 0;

  friend auto operator<=>(const DropoutAttributes&, const DropoutAttributes&) = default;
};

/// Computes y = (silu(x w1^T) * (x w3^T)) w2^T, where the product of the two is element by element.
/// The inputs are x [n, c, s, d], w1 [f, d], w2 [d, f] and w3 [f, d]. This is TTML's swiglu_fw.
struct SwigluAttributes {
  friend auto operator<=>(const SwigluAttributes&, const SwigluAttributes&) = default;
};

/// Takes a part of the operand: along each of four dimensions, element i of the result is element
/// begin + i step of the operand.
struct SliceAttributes {
  std::array<std::int64_t, 4> begins{};
  std::array<std::int64_t, 4> steps{1, 1, 1, 1};

  friend auto operator<=>(const SliceAttributes&, const SliceAttributes&) = default;
};

/// Pads the operand: along each of four dimensions, the result has so many elements of one value
/// before it, and behind it as many as there is room for.
struct PadAttributes {
  std::array<std::int64_t, 4> before{};
  float value = 0;

  friend auto operator<=>(const PadAttributes&, const PadAttributes&) = default;
};

/// Permutes the dimensions: dimension i of the result is the operand's dimension order[i].
struct PermuteAttributes {
  std::array<int, 4> order{0, 1, 2, 3};

  friend auto operator<=>(const PermuteAttributes&, const PermuteAttributes&) = default;
};

/// Computes softmax(scale q k^T + mask) v for each head: ttnn's scaled_dot_product_attention. q is
/// [b, h, s, d], and k and v are [b, g, t, d], where h is a multiple of g. A mask [b or 1, 1, s, t]
/// is optional.
struct AttentionAttributes {
  bool causal = false;  ///< Place i sees only the places up to i; s = t, and there is no mask.
  float scale = 1;
  std::int64_t query_chunk = 32, key_chunk = 32;  ///< Rows that a core works on at a time.
  ComputeConfig compute;                          ///< HiFi2 by default.

  friend auto operator<=>(const AttentionAttributes&, const AttentionAttributes&) = default;
};

/// Computes C[m, n] = A[m, k] B[k, n], plus a row if there is a third operand. This is ttnn's
/// minimal_matmul, whose operands go from core to core. Sizes are in tiles.
struct MinimalMatmulAttributes {
  std::int64_t block_m = 8, block_k = 8, block_n = 8;
  std::int64_t subblock_h = 1, subblock_w = 1;
  std::optional<CoreGrid> core_grid;        ///< The device's by default.
  ComputeConfig compute;                    ///< HiFi2 by default, without fp32 accumulation.
  std::optional<EltwiseStep> activation{};  ///< A function of each element of the result.

  friend auto operator<=>(const MinimalMatmulAttributes&, const MinimalMatmulAttributes&) = default;
};

/// Says what an op is, and holds its arguments besides the operands.
using Attributes =
    std::variant<MatmulAttributes, EltwiseAttributes, ReduceAttributes, TransposeAttributes,
                 ReshapeAttributes, LayoutAttributes, ConcatAttributes, SplitHeadsAttributes,
                 ConcatHeadsAttributes, SoftmaxAttributes, SoftmaxBackwardAttributes,
                 LayernormAttributes, LayernormBackwardAttributes, GeluBackwardAttributes,
                 EmbeddingAttributes, EmbeddingBackwardAttributes, CrossEntropyAttributes,
                 CrossEntropyBackwardAttributes, DropoutAttributes, AdamWAttributes,
                 RmsNormAttributes, RmsNormBackwardAttributes, RotaryEmbeddingAttributes,
                 SliceAttributes, PadAttributes, PermuteAttributes, AttentionAttributes,
                 MinimalMatmulAttributes, SgdAttributes, SwigluAttributes>;

}  // namespace howard
