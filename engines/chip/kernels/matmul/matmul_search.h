// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engines/chip/kernels/matmul/matmul_cost.h"
#include "engines/chip/kernels/matmul/matmul_planner.h"
#include "engines/chip/profiles/profile.h"

namespace howard::chip {

/// One configuration of a product, with its time and its L1.
struct PricedMatmul {
  MatmulPlan plan;
  KernelCost kernel;
  Bytes l1;  ///< The L1 of each core for circular buffers.
};

/// Says whether a is better: the faster one is, then the one that needs less L1, then the one with
/// fewer cores, then the one whose configuration comes first in the order of its fields.
bool ranks_before(const PricedMatmul& a, const PricedMatmul& b);

/// Says where a search looks and what it keeps.
struct MatmulSearch {
  CoreGrid grid;           ///< The cores that a configuration may use, from the first one on.
  Bytes circular_buffers;  ///< The L1 of each core; a configuration needs less than this.
  std::vector<MatmulKind> kinds{MatmulKind::multicast_2d, MatmulKind::multicast_1d_in0,
                                MatmulKind::multicast_1d_in1, MatmulKind::reuse,
                                MatmulKind::multi_core};
  std::size_t most = 10;  ///< The number of blockings that are kept.
  int threads = 1;        ///< These change how long the search takes and nothing else.
};

struct MatmulRanking {
  std::uint64_t legal = 0;  ///< The configurations that ttnn accepts and that fit in L1.
  /// The best of them, the fastest first. Of configurations that differ only in the sub-block, only
  /// the best one is here. A transposed multicast is here only if the other one does not fit,
  /// because both take as long.
  std::vector<PricedMatmul> best;
};

/// Returns the configuration with its time and its L1.
PricedMatmul price(const MatmulPlan& plan, const Profiles& profiles);

/// Ranks every legal configuration of `problem`, whose own core_grid and config are not looked at.
///
/// Each share of a core is bounded from below by the time of its arithmetic, and shares are taken
/// in that order until the next one cannot be faster than the last one kept; all blocks, steps of K
/// and sub-blocks of a share are priced. So the result is that of pricing every configuration.
MatmulRanking rank_matmuls(const MatmulProblem& problem, const MatmulSearch& search,
                           const Profiles& profiles);

/// Returns every blocking of the share that `plan` gives a core, each with its best sub-block, to
/// show what can be had for how much L1. They are in the order of K's step, then of the block's
/// height and width.
std::vector<PricedMatmul> blockings_of(const MatmulPlan& plan, Bytes circular_buffers,
                                       const Profiles& profiles);

}  // namespace howard::chip
