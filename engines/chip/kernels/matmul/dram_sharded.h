// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/chip/kernels/matmul/matmul_cost.h"

namespace howard::chip {

/// Returns the time of ttnn's kernel for weights that are sharded over the banks of the DRAM. A
/// core beside each bank reads its shard block by block over NoC 0, three blocks ahead. The cores
/// that hold A multicast a block of it for each of these. So a block takes as long as its reading
/// or its computing, with a handshake, and the shorter of the two passes once besides.
MatmulCost dram_sharded_cost(const MatmulPlan& plan, const Profiles& profiles);

}  // namespace howard::chip
