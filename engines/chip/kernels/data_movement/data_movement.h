// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engines/chip/kernels/pipeline/tile_pipeline.h"
#include "engines/program/program.h"

namespace howard::chip {

/// A RISC stores so much at a time.
inline constexpr Bytes kWord{4};

/// Returns how many rows of a tile of `shape` hold data.
std::int64_t rows_in_tile(const Shape& shape);
/// Returns the rows of tiles of all matrices.
std::int64_t rows_of_tiles(const TensorSpec& spec);
Bytes row_bytes(const TensorSpec& spec);
/// Returns the time to unpack tiles and pack them again, at one rate.
SimTime repack_time(std::int64_t tiles, Bytes tile, const ChipProfile& chip);

/// Copies whole tiles to other places. The cores share `units`, which have equal numbers of tiles.
PlannedProgram plan_move_tiles(const Program& program, std::int64_t units, CoreGrid grid,
                               const Profiles& profiles);

/// Says whether ttnn slices the tiles as they are. It brings other slices into rows and back.
bool slices_whole_tiles(const Program& program, const SliceAttributes& attributes);

}  // namespace howard::chip
