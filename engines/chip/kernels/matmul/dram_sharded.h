// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "engines/chip/kernels/matmul/matmul_cost.h"
#include "engines/chip/kernels/matmul/matmul_search.h"

namespace howard::chip {

/// Returns the time of ttnn's kernel for weights that are sharded over the banks of the DRAM. A
/// core beside each bank reads its shard block by block over NoC 0, three blocks ahead. The cores
/// that hold A multicast a block of it for each of these. So a block takes as long as its reading
/// or its computing, with a handshake, and the shorter of the two passes once besides.
MatmulCost dram_sharded_cost(const MatmulPlan& plan, const Profiles& profiles);

/// Returns the fastest plan of `problem` with A and the result in width shards in L1 and B sharded
/// over the banks of the DRAM: how many cores hold A, and how much of K is a block. Returns nothing
/// where ttnn has no such kernel: A of several rows of tiles, transposed factors, a batch, or
/// shards that do not fit in `l1`.
std::optional<PricedMatmul> best_dram_sharded(const MatmulProblem& problem, CoreGrid grid, Bytes l1,
                                              const Profiles& profiles);

}  // namespace howard::chip
