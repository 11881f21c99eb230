// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <tuple>

#include "engines/program/compute_config.h"
#include "engines/program/eltwise.h"
#include "engines/program/matmul_config.h"
#include "engines/program/operands.h"

namespace howard {

/// Computes C[batch, m, n] = A[batch, m, k] B[k, n]. B may also be [batch, k, n], or A may be [m,
/// k] with B [batch, k, n]. The bias is a row [n] that is added. Either factor may be stored with
/// rows and columns swapped. The planner of the device chooses the rest.
struct MatmulAttributes {
  static constexpr std::string_view kName = "matmul";
  static constexpr std::string_view kTtnn = "Matmul";
  static constexpr std::array kInputs{role::tiles("a"), role::tiles("b"),
                                      role::maybe(role::tiles("bias"))};
  static constexpr std::array kResults{role::tiles("product")};
  static constexpr Leeway kLeeway{.dtype = true, .batch = true};

  bool transpose_a = false;           ///< A is stored as [batch, k, m].
  bool transpose_b = false;           ///< B is stored as [n, k] or [batch, n, k].
  std::optional<CoreGrid> core_grid;  ///< The core_grid argument of ttnn: a size, placed at (0,0).
  ComputeConfig compute;
  std::optional<MatmulConfig> config;  ///< ttnn's program_config, in place of its own choice.
  /// This function is applied to each element of the result. A device may do so in the product's
  /// kernel.
  std::optional<EltwiseStep> activation{};

  static void fields(auto& self, auto&& visit) {
    visit("transpose_a", self.transpose_a);
    visit("transpose_b", self.transpose_b);
    visit({"core_grid", "user_core_coord"}, self.core_grid);
    visit(field::kFidelity, self.compute.fidelity);
    visit(field::kFp32, self.compute.fp32_accumulation);
    visit(field::kPacker, self.compute.packer_accumulates);
    visit({"config", "program_config"}, self.config);
    visit({"activation", "user_fused_activation"}, self.activation);
  }
  /// With a bias it is a linear layer.
  static std::string_view shown(Specs in) { return in.size() > 2 ? "linear" : kName; }
  SpecList results(Specs in) const;
  Flops flops(Specs in, Specs out) const;

  friend constexpr auto operator<=>(const MatmulAttributes&, const MatmulAttributes&) = default;
};

/// Computes C[m, n] = A[m, k] B[k, n], plus a row if there is a bias. This is ttnn's
/// minimal_matmul, whose operands go from core to core. Sizes are in tiles.
struct MinimalMatmulAttributes {
  static constexpr std::string_view kName = "minimal_matmul";
  static constexpr std::string_view kTtnn = "MinimalMatmulOp";
  static constexpr std::array kInputs = MatmulAttributes::kInputs;
  static constexpr std::array kResults = MatmulAttributes::kResults;
  static constexpr Leeway kLeeway = MatmulAttributes::kLeeway;

  std::int64_t block_m = 8, block_k = 8, block_n = 8;
  std::int64_t subblock_h = 1, subblock_w = 1;
  std::optional<CoreGrid> core_grid;        ///< The device's by default.
  ComputeConfig compute;                    ///< HiFi2 by default, without fp32 accumulation.
  std::optional<EltwiseStep> activation{};  ///< A function of each element of the result.

  static void fields(auto& self, auto&& visit) {
    constexpr TtnnStruct kConfig{"config", "MinimalMatmulConfig"};
    visit({"block", "M_block_size,K_block_size,N_block_size", kConfig},
          std::tie(self.block_m, self.block_k, self.block_n), kBlockSides);
    visit({"subblock", "subblock_h,subblock_w", kConfig},
          std::tie(self.subblock_h, self.subblock_w), kBlockSides);
    visit({"core_grid", "compute_with_storage_grid_size", kConfig}, self.core_grid);
    visit(field::kFidelity, self.compute.fidelity);
    visit(field::kFp32, self.compute.fp32_accumulation);
    visit({"activation", "fused_activation"}, self.activation);
  }
  SpecList results(Specs in) const;
  Flops flops(Specs in, Specs out) const;

  friend constexpr auto operator<=>(const MinimalMatmulAttributes&,
                                    const MinimalMatmulAttributes&) = default;
};

/// Multiplies the blocks of two tensors whose numbers in `sparsity` are not 0, for example the rows
/// of all tokens by the weights of the experts that were chosen. B is [1, e, k, n]. A is [p, q, m,
/// k], whose every block meets every block of B, and the result [p q, e, m, n]; or, where A has
/// blocks of its own for each of B's, [p, e, m, k], and the result [p, e, m, n]. This is ttnn's
/// sparse_matmul. Blocks that are left out are 0.
struct SparseMatmulAttributes {
  static constexpr std::string_view kName = "sparse_matmul";
  static constexpr std::string_view kTtnn = "SparseMatmulDeviceOperation";
  static constexpr std::array kInputs{role::tiles("a"), role::tiles("b"), role::rows("sparsity")};
  static constexpr std::array kResults{role::tiles("product")};
  static constexpr Leeway kLeeway{.dtype = true};

  std::int64_t used = 0;  ///< Blocks that the time is of: ttnn's nnz; all of them if 0.
  bool sparse_a = false;  ///< A has a block for each of B's.
  bool sparse_b = true;   ///< Without it, sparsity leaves out blocks of A alone.
  ComputeConfig compute;
  std::optional<MatmulConfig> config{};  ///< Of the product of a block.

  static void fields(auto& self, auto&& visit) {
    visit({"used", "nnz"}, self.used, kSides);
    visit({"sparse_a", "is_input_a_sparse"}, self.sparse_a);
    visit({"sparse_b", "is_input_b_sparse"}, self.sparse_b);
    visit(field::kFidelity, self.compute.fidelity);
    visit(field::kFp32, self.compute.fp32_accumulation);
    visit(field::kPacker, self.compute.packer_accumulates);
    visit({"config", "program_config"}, self.config);
  }
  SpecList results(Specs in) const;
  Flops flops(Specs in, Specs out) const;
  /// Returns how many of the blocks are multiplied, of a result of that shape.
  std::int64_t multiplied(const Shape& result) const;

  friend constexpr auto operator<=>(const SparseMatmulAttributes&,
                                    const SparseMatmulAttributes&) = default;
};

/// Computes y = (silu(x w1^T) * (x w3^T)) w2^T, where the product of the two is element by element.
/// The inputs are x [n, c, s, d], w1 [f, d], w2 [d, f] and w3 [f, d]. This is TTML's swiglu_fw.
struct SwigluAttributes {
  static constexpr std::string_view kName = "swiglu";
  static constexpr std::string_view kTtnn = "SwiGLUForwardDeviceOperation";
  static constexpr std::array kInputs{role::tiles("x"), role::tiles("w1"), role::tiles("w2"),
                                      role::tiles("w3")};
  static constexpr std::array kResults{role::tiles("y")};

  SpecList results(Specs in) const;
  Flops flops(Specs in, Specs out) const;

  friend auto operator<=>(const SwigluAttributes&, const SwigluAttributes&) = default;
};

}  // namespace howard
