// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engines/program/compute_config.h"
#include "engines/program/eltwise.h"

namespace howard {

/// Says how ttnn spreads a matrix product over cores: the classes of its matmul program
/// configurations.
enum class MatmulKind : std::uint8_t {
  multicast_2d,      ///< A by core rows, B by core columns, both multicast.
  multicast_1d_in0,  ///< One core reads A and multicasts it; every core owns columns of B.
  multicast_1d_in1,  ///< The mirror: one core reads B; every core owns rows of A.
  reuse,             ///< Each core has products, or rows of one, of its own; no multicast.
  multi_core,        ///< Each core has tiles of the result; a tile of each operand a step.
  dram_sharded,      ///< A core beside each bank of the DRAM reads the columns of B in its bank.
};

/// The size of one product in tiles, whatever its batch is.
struct MatmulSize {
  std::int64_t m = 1, k = 1, n = 1;

  friend constexpr auto operator<=>(const MatmulSize&, const MatmulSize&) = default;
};

/// A matmul program configuration that a caller gives, which is ttnn's program_config. Sizes are in
/// tiles. A caller of multi_core gives nothing else, and one of dram_sharded neither a grid nor
/// blocks of the output.
struct MatmulConfig {
  MatmulKind kind{};
  CoreGrid grid;  ///< ttnn's compute_with_storage_grid_size.
  std::int64_t per_core_m = 1, per_core_n = 1;
  std::int64_t in0_block_w = 1;                   ///< Tiles of K in one step.
  std::int64_t out_block_h = 1, out_block_w = 1;  ///< Not for reuse, whose block is its share.
  std::int64_t subblock_h = 1, subblock_w = 1;    ///< ttnn's out_subblock_h and out_subblock_w.
  bool transpose_mcast = false;                   ///< 2D: M over the columns, N over the rows.
  bool fuse_batch = true;                         ///< The batch of A makes more rows of it.
  bool gather_in0 = false;  ///< 1D in0: the shards of A go round a ring of the cores.

  /// Products of another size keep ttnn's choice; if absent, the configuration is for all sizes.
  std::optional<MatmulSize> only;

  friend constexpr auto operator<=>(const MatmulConfig&, const MatmulConfig&) = default;
};

/// Returns "2D", "1D in0", "1D in1", "reuse", "multi-core" or "DRAM-sharded".
std::string_view name_of(MatmulKind kind);

/// Returns the configuration as one word, in ttnn's names:
/// "2d:grid=8x7:per_core=20x16:in0_block_w=8:out_block=10x8:out_subblock=2x4". Defaults are left
/// out: an out_block that is all of per_core, transpose_mcast, gather_in0, and fuse_batch if it is
/// on. A
/// configuration for products of a single size begins with that size in elements:
/// "1024x512x2048@2d:...".
std::string text_of(const MatmulConfig& config);

/// Parses such a text; the parts after the kind stand in any order. A sub-block that is left out is
/// the first one of ttnn's list that divides the block and has at most 8 tiles. Throws Error for an
/// unknown kind or part, for a part that is missing, and for sizes that are not from 1 to 65536.
MatmulConfig parse_matmul_config(std::string_view text);

/// Returns, as (h, w), the largest sub-block that ttnn's list of preferences has for a block of h x
/// w tiles, of at most `most_tiles`.
std::pair<std::int64_t, std::int64_t> preferred_subblock(std::int64_t h, std::int64_t w,
                                                         std::int64_t most_tiles);

/// Returns the configuration as ttnn's logs print it:
/// "MatmulMultiCoreReuseMultiCast1DProgramConfig(compute_with_storage_grid_size=(x=8;y=4);...)".
/// `fused_activation` is that field, as logs print it.
std::string ttnn_text(const MatmulConfig& config,
                      std::string_view fused_activation = "std::nullopt");
/// Parses such a text. Throws Error for a class that is none of ttnn.matmul's, for a missing grid
/// and for sizes that are not from 1 to 65536.
MatmulConfig parse_ttnn_config(std::string_view text);

/// Returns ttnn's constructor call for the configuration,
/// "ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(...)", with a line for each field. `activation`
/// is its fused_activation.
std::string python_text(const MatmulConfig& config, std::optional<Eltwise> activation = {});

/// Returns tt-mlir's attribute for it, in a line:
/// "#ttnn.matmul_multi_core_reuse_multi_cast_program_config<...>"; "" for multi_core, for which it
/// has none.
std::string mlir_text(const MatmulConfig& config, std::optional<Eltwise> activation = {});

}  // namespace howard
