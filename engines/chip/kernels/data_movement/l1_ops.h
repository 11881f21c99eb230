// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/chip/kernels/planner.h"

namespace howard::chip {

// These kernels have operands in the L1 of the cores: interleaved page by page over all of them, or
// in shards.

/// Says whether one of the program's operands or results is in L1.
bool touches_l1(const Program& program);

/// Plans an elementwise op with operands in L1. If all operands and the result are sharded alike,
/// every core computes on its own shard and nothing moves; otherwise pages are read from and
/// written to wherever they lie. Throws Error, as ttnn does, when a function of one value is to
/// change the sharding.
PlannedProgram plan_eltwise_in_l1(const Program& program, const EltwiseAttributes& attributes,
                                  CoreGrid grid, const Profiles& profiles);

/// Plans the move of a tensor to another memory: from interleaved to sharded, back, from shards to
/// other shards, or from one interleaved memory to another.
PlannedProgram plan_memory_move(const Program& program, CoreGrid grid, const Profiles& profiles);

/// Returns ttnn's name of the operation that moves `from` to `to`.
std::string_view move_operation(const TensorSpec& from, const TensorSpec& to);

}  // namespace howard::chip
