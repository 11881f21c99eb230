// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

namespace howard {

/// Cores by columns (x) and rows (y), as tt-metal writes a CoreGrid: 8x7 is 8 columns, 7 rows.
struct CoreGrid {
  int columns = 0;
  int rows = 0;

  constexpr int cores() const { return columns * rows; }
  friend constexpr auto operator<=>(const CoreGrid&, const CoreGrid&) = default;
};

/// How many passes the matrix unit makes over the mantissa bits of its operands; the value is the
/// number of passes (Wormhole's matrix unit: LoFi 1 to HiFi4 4).
enum class MathFidelity : std::uint8_t { lofi = 1, hifi2 = 2, hifi3 = 3, hifi4 = 4 };

/// "LoFi", "HiFi2", "HiFi3", "HiFi4".
std::string_view name_of(MathFidelity fidelity);

/// The inverse of name_of, in any letter case. Error for any other word.
MathFidelity parse_math_fidelity(std::string_view word);

/// What a caller may say about the arithmetic; what is left out takes ttnn's default for the case.
struct ComputeConfig {
  std::optional<MathFidelity> fidelity;
  std::optional<bool> fp32_accumulation;  ///< ttnn's fp32_dest_acc_en.

  friend constexpr auto operator<=>(const ComputeConfig&, const ComputeConfig&) = default;
};

/// How ttnn spreads a matrix product over cores: the classes of its matmul program configurations.
enum class MatmulKind : std::uint8_t {
  multicast_2d,      ///< A by core rows, B by core columns, both multicast.
  multicast_1d_in0,  ///< One core reads A and multicasts it; every core owns columns of B.
  multicast_1d_in1,  ///< The mirror: one core reads B; every core owns rows of A.
  reuse,             ///< Each core has products, or rows of one, of its own; no multicast.
  multi_core,        ///< Each core has tiles of the result; a tile of each operand a step.
};

/// The size of one product in tiles, whatever its batch.
struct MatmulSize {
  std::int64_t m = 1, k = 1, n = 1;

  friend constexpr auto operator<=>(const MatmulSize&, const MatmulSize&) = default;
};

/// A matmul program configuration that a caller gives, ttnn's program_config; sizes in tiles. A
/// caller of multi_core says nothing else.
struct MatmulConfig {
  MatmulKind kind{};
  CoreGrid grid;  ///< ttnn's compute_with_storage_grid_size.
  std::int64_t per_core_m = 1, per_core_n = 1;
  std::int64_t in0_block_w = 1;                   ///< Of K, in one step.
  std::int64_t out_block_h = 1, out_block_w = 1;  ///< Not of reuse, whose block is its share.
  std::int64_t subblock_h = 1, subblock_w = 1;    ///< ttnn's out_subblock_h and out_subblock_w.
  bool transpose_mcast = false;                   ///< 2D: M over the columns, N over the rows.
  bool fuse_batch = true;                         ///< The batch of A makes more rows of it.

  /// Products of another size keep ttnn's choice; absent: there are none that do.
  std::optional<MatmulSize> only;

  friend constexpr auto operator<=>(const MatmulConfig&, const MatmulConfig&) = default;
};

/// C[batch, m, n] = A[batch, m, k] B[k, n], or B[batch, k, n], or A[m, k] B[batch, k, n]; plus a
/// row [n] when there is a third operand, the bias. Either factor is taken with rows and columns
/// swapped where it says so. The planner of the device chooses the rest.
struct MatmulAttributes {
  bool transpose_a = false;           ///< A is stored as [batch, k, m].
  bool transpose_b = false;           ///< B is stored as [n, k] or [batch, n, k].
  std::optional<CoreGrid> core_grid;  ///< ttnn's core_grid argument: a size, placed at (0,0).
  ComputeConfig compute;
  std::optional<MatmulConfig> config;  ///< ttnn's program_config, in place of its own choice.

  friend constexpr auto operator<=>(const MatmulAttributes&, const MatmulAttributes&) = default;
};

/// What an elementwise op computes of its operands x and, for two, y.
enum class Eltwise : std::uint8_t {
  add,
  subtract,
  multiply,  ///< x op y, y being a tensor or the scalar
  relu,
  gtz,
  square,  ///< max(x, 0); 1 where x > 0, else 0; x x
  exp,
  erf,
  gelu,
  sqrt,
  rsqrt,
  reciprocal,
  cast,  ///< x in the output's data type
  fill,  ///< the scalar, of no operand
};

/// "add", "subtract", "relu", ...
std::string_view name_of(Eltwise function);
/// How many values it takes: 0 (fill), 1 or 2.
int arity_of(Eltwise function);

/// out = function(x, y) for each element. Two tensors broadcast as ttnn does it: a dimension of
/// one fits any other.
struct EltwiseAttributes {
  Eltwise function{};
  std::optional<float> scalar;        ///< y of a function of two values, or what fill writes.
  std::optional<CoreGrid> core_grid;  ///< ttnn's sub_core_grids: the cores to use.

  friend auto operator<=>(const EltwiseAttributes&, const EltwiseAttributes&) = default;
};

enum class Reduction : std::uint8_t { sum, mean, max };

/// "sum", "mean", "max".
std::string_view name_of(Reduction reduction);

/// The dimension an op works along: columns is the last one, batch all that come before the rows.
enum class Dimension : std::uint8_t { columns, rows, batch, all };

/// out[..., 1] and so on: `dimension` shrinks to one.
struct ReduceAttributes {
  Reduction reduction{};
  Dimension dimension{};
  bool moreh = false;  ///< By ttnn's moreh_sum and moreh_mean, which accumulate in fp32.

  friend auto operator<=>(const ReduceAttributes&, const ReduceAttributes&) = default;
};

/// Which two dimensions of [n, c, h, w] change places.
enum class Swap : std::uint8_t {
  rows_columns,  ///< h and w: ttnn's transpose WH
  heads_rows,    ///< c and h: ttnn's transpose HC
};

struct TransposeAttributes {
  Swap swap = Swap::rows_columns;

  friend auto operator<=>(const TransposeAttributes&, const TransposeAttributes&) = default;
};

/// The same elements in row order under another shape, in tile layout: data are moved.
struct ReshapeAttributes {
  friend auto operator<=>(const ReshapeAttributes&, const ReshapeAttributes&) = default;
};

/// Tilize or untilize: the same tensor in the output's layout.
struct LayoutAttributes {
  friend auto operator<=>(const LayoutAttributes&, const LayoutAttributes&) = default;
};

/// All operands side by side, along the columns.
struct ConcatAttributes {
  friend auto operator<=>(const ConcatAttributes&, const ConcatAttributes&) = default;
};

/// q, k, v, each [n, heads, s, d], of [n, 1, s, 3 heads d]: q's columns first, then k's, then v's.
struct SplitHeadsAttributes {
  int heads = 1;

  friend auto operator<=>(const SplitHeadsAttributes&, const SplitHeadsAttributes&) = default;
};

/// [n, 1, s, heads d] of [n, heads, s, d].
struct ConcatHeadsAttributes {
  friend auto operator<=>(const ConcatHeadsAttributes&, const ConcatHeadsAttributes&) = default;
};

/// exp(x) / sum of exp(x), along the columns.
struct SoftmaxAttributes {
  friend auto operator<=>(const SoftmaxAttributes&, const SoftmaxAttributes&) = default;
};

/// dx = y (dy - sum of y dy along the columns), of y and dy: moreh_softmax_backward.
struct SoftmaxBackwardAttributes {
  friend auto operator<=>(const SoftmaxBackwardAttributes&,
                          const SoftmaxBackwardAttributes&) = default;
};

/// y = (x - mean) rstd gamma + beta along the columns, of x alone or x, gamma, beta. Outputs: y, or
/// y, mean, rstd = 1 / sqrt(variance + epsilon).
struct LayernormAttributes {
  float epsilon = 1e-5F;

  friend auto operator<=>(const LayernormAttributes&, const LayernormAttributes&) = default;
};

/// Of x, gamma, mean, rstd, dy: dx, and per row what is to be summed to dgamma and dbeta.
struct LayernormBackwardAttributes {
  friend auto operator<=>(const LayernormBackwardAttributes&,
                          const LayernormBackwardAttributes&) = default;
};

/// dx of x and dy, for the exact gelu.
struct GeluBackwardAttributes {
  bool fused = false;  ///< One program of TTML's; otherwise ttnn's composite of eleven.

  friend auto operator<=>(const GeluBackwardAttributes&, const GeluBackwardAttributes&) = default;
};

/// Rows of a table [v, d], one for each index: indices [..., s] to [..., s, d].
struct EmbeddingAttributes {
  friend auto operator<=>(const EmbeddingAttributes&, const EmbeddingAttributes&) = default;
};

/// Of indices and dy, the sum of dy over the positions of each index: the gradient of the table.
struct EmbeddingBackwardAttributes {
  friend auto operator<=>(const EmbeddingBackwardAttributes&,
                          const EmbeddingBackwardAttributes&) = default;
};

/// Of logits [..., s, v] and targets [..., s]: log(sum of exp) - logit of the target, [..., s, 1].
struct CrossEntropyAttributes {
  friend auto operator<=>(const CrossEntropyAttributes&, const CrossEntropyAttributes&) = default;
};

/// Of logits and targets: scale (softmax - one at the target).
struct CrossEntropyBackwardAttributes {
  float scale = 1;

  friend auto operator<=>(const CrossEntropyBackwardAttributes&,
                          const CrossEntropyBackwardAttributes&) = default;
};

/// x / (1 - probability), or 0 with that probability. The same seed drops the same elements. A
/// second operand, one uint32, is added to the seed when the program runs, so that a replayed trace
/// need not drop the same elements each time.
struct DropoutAttributes {
  float probability = 0;
  std::uint32_t seed = 0;

  friend auto operator<=>(const DropoutAttributes&, const DropoutAttributes&) = default;
};

/// Of p, g, m, v (outputs p, m, v, in their places), with t = step from 1, in TTML's order:
/// p -= weight_decay lr p; m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2;
/// p -= lr m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + epsilon). One program: ttnn's MorehAdamW.
struct AdamWAttributes {
  float learning_rate = 1e-3F;
  float beta1 = 0.9F;
  float beta2 = 0.999F;
  float epsilon = 1e-8F;
  float weight_decay = 0.01F;
  std::int64_t step = 1;

  friend auto operator<=>(const AdamWAttributes&, const AdamWAttributes&) = default;
};

/// What an op is, and what it is told besides its operands.
using Attributes =
    std::variant<MatmulAttributes, EltwiseAttributes, ReduceAttributes, TransposeAttributes,
                 ReshapeAttributes, LayoutAttributes, ConcatAttributes, SplitHeadsAttributes,
                 ConcatHeadsAttributes, SoftmaxAttributes, SoftmaxBackwardAttributes,
                 LayernormAttributes, LayernormBackwardAttributes, GeluBackwardAttributes,
                 EmbeddingAttributes, EmbeddingBackwardAttributes, CrossEntropyAttributes,
                 CrossEntropyBackwardAttributes, DropoutAttributes, AdamWAttributes>;

}  // namespace howard
