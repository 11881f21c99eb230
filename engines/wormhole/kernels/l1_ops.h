// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/wormhole/kernels/planned_program.h"

namespace howard::wormhole {

// Operands in the L1 of the cores: interleaved page by page over all of them, or in shards.

/// Whether one of its operands or results is in L1.
bool touches_l1(const Program& program);

/// An elementwise op with operands in L1. Where all operands and the result are sharded alike,
/// every core computes on its own shard and nothing moves; otherwise pages are read from and
/// written to wherever they lie. Error, as ttnn's, when a function of one value is to change the
/// sharding.
PlannedProgram plan_eltwise_in_l1(const Program& program, const EltwiseAttributes& attributes,
                                  CoreGrid grid, const Profiles& profiles);

/// A tensor into another memory: interleaved to sharded, back, from shards to other shards, or from
/// one interleaved memory to another.
PlannedProgram plan_memory_move(const Program& program, CoreGrid grid, const Profiles& profiles);

/// ttnn's name of the operation that moves `from` to `to`.
std::string_view move_operation(const TensorSpec& from, const TensorSpec& to);

}  // namespace howard::wormhole
