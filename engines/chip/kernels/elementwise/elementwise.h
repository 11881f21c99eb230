// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/chip/kernels/pipeline/tile_pipeline.h"
#include "engines/chip/profiles/profile.h"
#include "engines/program/program.h"

namespace howard::chip {

/// The circular buffers of a kernel that takes one tile in a step are for the input, the output,
/// and a second operand or constants.
inline constexpr int kTileBuffers = 3;

/// Returns the time for a tile of the function, of those that follow it on the same registers, and
/// of those that an operand goes through before, which unpack and pack it once more. A relu that
/// alone follows a function of several values is done by the packer and takes no time.
SimTime eltwise_math_time(const EltwiseAttributes& attributes, const TileCosts& cost);
/// Returns the time that the function takes beyond a copy, for a tile that is in the registers
/// already.
SimTime fused_math_time(Eltwise function, const TileCosts& cost);
/// Returns the time to fill a tile with a scalar, before the first step.
SimTime scalar_tile_time(const SoftwareProfile& software);

/// Plans a program that makes every tile of the output from the tile at its place in each input.
PlannedProgram plan_tile_for_tile(const Program& program, SimTime compute, CoreGrid grid,
                                  const Profiles& profiles);

/// Says whether one of the program's operands or results is in L1.
bool touches_l1(const Program& program);

/// Plans an elementwise op with operands in L1. If all operands and the result are sharded alike,
/// every core computes on its own shard and nothing moves; otherwise pages are read from and
/// written to wherever they lie. Throws Error, as ttnn does, when a function of one value is to
/// change the sharding.
PlannedProgram plan_eltwise_in_l1(const Program& program, const EltwiseAttributes& attributes,
                                  CoreGrid grid, const Profiles& profiles);

}  // namespace howard::chip
