// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

namespace howard {

/// A number of cores as columns (x) by rows (y), in the notation of tt-metal's CoreGrid: 8x7 means
/// 8 columns and 7 rows.
struct CoreGrid {
  int columns = 0;
  int rows = 0;

  constexpr int cores() const { return columns * rows; }
  friend constexpr auto operator<=>(const CoreGrid&, const CoreGrid&) = default;
};

/// How many passes the matrix unit makes over the mantissa bits of its operands. The value is the
/// number of passes (on Wormhole: from 1 for LoFi to 4 for HiFi4).
enum class MathFidelity : std::uint8_t { lofi = 1, hifi2 = 2, hifi3 = 3, hifi4 = 4 };

/// Returns "LoFi", "HiFi2", "HiFi3" or "HiFi4".
std::string_view name_of(MathFidelity fidelity);

/// The inverse of name_of, in any letter case. Throws Error for any other word.
MathFidelity parse_math_fidelity(std::string_view word);

/// What a caller may say about the arithmetic. For what is left out, ttnn's default for the case
/// applies.
struct ComputeConfig {
  std::optional<MathFidelity> fidelity;
  std::optional<bool> fp32_accumulation;  ///< Called fp32_dest_acc_en in ttnn.

  friend constexpr auto operator<=>(const ComputeConfig&, const ComputeConfig&) = default;
};

/// C[batch, m, n] = A[batch, m, k] B[k, n], or B[batch, k, n], or A[m, k] B[batch, k, n]. If there
/// is a third operand, the bias, its row [n] is added. Either factor can be transposed. The
/// device's planner chooses the rest.
struct MatmulAttributes {
  bool transpose_a = false;           ///< A is stored as [batch, k, m].
  bool transpose_b = false;           ///< B is stored as [n, k] or [batch, n, k].
  std::optional<CoreGrid> core_grid;  ///< The core_grid argument of ttnn: a size, placed at (0,0).
  ComputeConfig compute;

  friend constexpr auto operator<=>(const MatmulAttributes&, const MatmulAttributes&) = default;
};

/// What an elementwise op computes from its operand x or its operands x and y.
enum class Eltwise : std::uint8_t {
  add,       ///< x + y; y is a tensor or the scalar
  subtract,  ///< x - y; as above
  multiply,  ///< x y; as above
  relu,      ///< max(x, 0)
  gtz,       ///< 1 where x > 0, else 0
  square,    ///< x x
  exp,
  erf,
  gelu,
  sqrt,
  rsqrt,
  reciprocal,
  cast,  ///< converts x to the output's data type
  fill,  ///< writes the scalar; takes no operand
};

/// Returns "add", "subtract", "relu", ...
std::string_view name_of(Eltwise function);
/// Returns how many values the function takes: 0 (fill), 1 or 2.
int arity_of(Eltwise function);

/// out = function(x, y) for each element. Two tensors broadcast as in ttnn: a dimension of one fits
/// any other.
struct EltwiseAttributes {
  Eltwise function{};
  /// The y of a function of two values, or the value that fill writes.
  std::optional<float> scalar;
  std::optional<CoreGrid> core_grid;  ///< Called sub_core_grids in ttnn: the cores to use.

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
  /// Whether to use ttnn's moreh_sum and moreh_mean, which accumulate in fp32.
  bool moreh = false;

  friend auto operator<=>(const ReduceAttributes&, const ReduceAttributes&) = default;
};

/// Which two dimensions of [n, c, h, w] are swapped.
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

/// exp(x) / (sum of exp(x)), along the columns.
struct SoftmaxAttributes {
  friend auto operator<=>(const SoftmaxAttributes&, const SoftmaxAttributes&) = default;
};

/// dx = y (dy - sum of y dy along the columns), from y and dy. This is ttnn's
/// moreh_softmax_backward.
struct SoftmaxBackwardAttributes {
  friend auto operator<=>(const SoftmaxBackwardAttributes&,
                          const SoftmaxBackwardAttributes&) = default;
};

/// y = (x - mean) rstd gamma + beta along the columns. The inputs are x alone, or x, gamma and
/// beta. The outputs are y alone, or y, mean and rstd = 1 / sqrt(variance + epsilon).
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

/// Computes dx from x and dy, for the exact gelu.
struct GeluBackwardAttributes {
  /// Whether to use TTML's single program; otherwise ttnn's composite of eleven programs.
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
  friend auto operator<=>(const CrossEntropyAttributes&, const CrossEntropyAttributes&) = default;
};

/// scale (softmax - one at the target), from logits and targets.
struct CrossEntropyBackwardAttributes {
  float scale = 1;

  friend auto operator<=>(const CrossEntropyBackwardAttributes&,
                          const CrossEntropyBackwardAttributes&) = default;
};

/// x / (1 - probability), or 0 with that probability. The same seed drops the same elements. An
/// optional second operand, one uint32, is added to the seed when the program runs, so that a
/// replayed trace need not drop the same elements each time.
struct DropoutAttributes {
  float probability = 0;
  std::uint32_t seed = 0;

  friend auto operator<=>(const DropoutAttributes&, const DropoutAttributes&) = default;
};

/// Updates p from p, g, m and v; the outputs p, m and v are written in place. With t = step, from
/// 1, in TTML's order:
/// p -= weight_decay lr p; m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2;
/// p -= lr m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + epsilon).
/// It is one program: ttnn's MorehAdamW.
struct AdamWAttributes {
  float learning_rate = 1e-3F;
  float beta1 = 0.9F;
  float beta2 = 0.999F;
  float epsilon = 1e-8F;
  float weight_decay = 0.01F;
  std::int64_t step = 1;

  friend auto operator<=>(const AdamWAttributes&, const AdamWAttributes&) = default;
};

/// Says which op a program is, and holds its arguments besides the operands.
using Attributes =
    std::variant<MatmulAttributes, EltwiseAttributes, ReduceAttributes, TransposeAttributes,
                 ReshapeAttributes, LayoutAttributes, ConcatAttributes, SplitHeadsAttributes,
                 ConcatHeadsAttributes, SoftmaxAttributes, SoftmaxBackwardAttributes,
                 LayernormAttributes, LayernormBackwardAttributes, GeluBackwardAttributes,
                 EmbeddingAttributes, EmbeddingBackwardAttributes, CrossEntropyAttributes,
                 CrossEntropyBackwardAttributes, DropoutAttributes, AdamWAttributes>;

}  // namespace howard
