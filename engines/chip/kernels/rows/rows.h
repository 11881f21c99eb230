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

/// The passes of layernorm over a tile are mean, difference, square, variance, product, scale and
/// shift.
inline constexpr std::int64_t kLayernormPasses = 7;

}  // namespace howard::chip
