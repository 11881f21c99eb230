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

/// Returns the time of one tile of a pass of a norm. Without accumulation in fp32 it is shorter on
/// shards alone: 24 tiles a core take 40 us in bfloat16 (DistilBERT, N300, September 2024), 1.7 us
/// a tile, no less than in fp32.
SimTime norm_pass_time(const Program& program, bool fp32_accumulation, const TileCosts& cost);

/// Says whether the cores keep the rows that lie in their L1.
bool stay_in_shards(const Program& program);

/// Returns one tile for each row of `program`'s first input.
TilesPerStep one_a_row(const Program& program);

/// Says whether a core has room for a row of a norm, by the sum of buffers that ttnn compares with
/// its L1 (tt-metal, layernorm_op_multi_core.cpp). Longer rows are gone through in parts.
bool fits_in_l1(const Program& program, bool sums, bool fp32_accumulation, const ChipProfile& chip);

/// The passes of layernorm over a tile are mean, difference, square, variance, product, scale and
/// shift.
inline constexpr std::int64_t kLayernormPasses = 7;

}  // namespace howard::chip
