// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/chip/kernels/pipeline/tile_pipeline.h"
#include "engines/program/program.h"

namespace howard::chip {

// These kernels need a whole row of tiles before they can write the first tile of it. The cores
// share the rows of tiles: a core reads a row once, keeps it in L1 and passes over it several
// times. The math time of the passes is a constant per tile.

/// The times of a kernel for each tile of a row, and besides.
struct RowWork {
  TilesPerStep reads, writes;
  SimTime math;     ///< For one tile, all passes together.
  SimTime per_row;  ///< The extra time for a row of tiles.
  SimTime set_up;   ///< Passes once.
  bool keeps_scale =
      false;  ///< Each core reads a row of tiles once before the others, and keeps it.
  int circular_buffers = 4;
  int gathers = 1;  ///< How often cores that share a row hand sums to each other.
};

PlannedProgram plan_rows(const Program& program, const RowWork& row, CoreGrid grid,
                         const Profiles& profiles);

/// Returns one tile for each row of `program`'s first input.
TilesPerStep one_a_row(const Program& program);

/// Returns the time of one tile of one pass. Without accumulation in fp32, a pass is as long as an
/// elementwise function of the matrix unit, which unpacks, computes and packs a tile as well.
SimTime pass_time(bool fp32_accumulation, const TileCosts& cost);

/// Plans ttnn's softmax along the columns. Of interleaved rows, a RISC first makes a mask of the
/// columns that fill up the last tile (profiles: tiles.softmax_start); the kernel of shards makes
/// none.
PlannedProgram plan_softmax(const Program& program, const SoftmaxAttributes& attributes,
                            CoreGrid grid, const Profiles& profiles);
/// Plans moreh_softmax_backward.
PlannedProgram plan_softmax_backward(const Program& program, CoreGrid grid,
                                     const Profiles& profiles);

/// The passes of layernorm over a tile are mean, difference, square, variance, product, scale and
/// shift.
inline constexpr std::int64_t kLayernormPasses = 7;

// The times of rms_norm follow from its structure: a pass takes as long as one of the seven passes
// of the layernorm kernel of the same library, which is measured.

/// Plans ttnn's layernorm.
PlannedProgram plan_layernorm(const Program& program, const LayernormAttributes& attributes,
                              CoreGrid grid, const Profiles& profiles);
/// Plans TTML's, which also writes the statistics.
PlannedProgram plan_ttml_layernorm(const Program& program, CoreGrid grid, const Profiles& profiles);
PlannedProgram plan_layernorm_backward(const Program& program, CoreGrid grid,
                                       const Profiles& profiles);

/// Plans ttnn's rms_norm.
PlannedProgram plan_rms_norm(const Program& program, const RmsNormAttributes& attributes,
                             CoreGrid grid, const Profiles& profiles);
/// Plans TTML's, which also writes the root.
PlannedProgram plan_ttml_rms_norm(const Program& program, CoreGrid grid, const Profiles& profiles);
/// Plans TTML's rmsnorm_bw, without the sum over rows that follows it.
PlannedProgram plan_rms_norm_backward(const Program& program, CoreGrid grid,
                                      const Profiles& profiles);

/// These plan TTML's kernels.
PlannedProgram plan_cross_entropy(const Program& program, CoreGrid grid, const Profiles& profiles);
PlannedProgram plan_cross_entropy_backward(const Program& program, CoreGrid grid,
                                           const Profiles& profiles);
PlannedProgram plan_nll_loss(const Program& program, CoreGrid grid, const Profiles& profiles);
PlannedProgram plan_nll_loss_backward(const Program& program, CoreGrid grid,
                                      const Profiles& profiles);

/// Plans ttnn's cumsum, which deals out columns or rows of tiles and goes through each in turn.
PlannedProgram plan_cumsum(const Program& program, const CumsumAttributes& attributes,
                           CoreGrid grid, const Profiles& profiles);

/// Plans a reduction along columns, rows or the batch.
PlannedProgram plan_reduce(const Program& program, const ReduceAttributes& attributes,
                           CoreGrid grid, const Profiles& profiles);

}  // namespace howard::chip
