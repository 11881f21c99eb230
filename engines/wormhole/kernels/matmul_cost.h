// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/sim_time.h"
#include "engines/wormhole/dispatch/footprint.h"
#include "engines/wormhole/kernels/kernel_cost.h"
#include "engines/wormhole/kernels/matmul_planner.h"
#include "engines/wormhole/profiles/profile.h"

namespace howard::wormhole {

/// The stages of a matmul kernel on the slowest core. A step is one block of K of one output block.
struct MatmulCost {
  SimTime in0_load;      ///< The time of one step to read a block of A and multicast it.
  SimTime in1_load;      ///< The time of one step to read a block of B and multicast it.
  SimTime compute;       ///< The time of one step for all tile products of the block.
  SimTime output_drain;  ///< The time to write one output block.
  SimTime bias;  ///< The time to add the bias to one output block, after the last step of K.
  SimTime output_exposed;  ///< The bias time plus the part of writing that no computation hides.
  SimTime restart;         ///< The time before each further product of a looped batch.
  std::int64_t steps = 0;  ///< The number of steps of a core.
  std::int64_t output_blocks = 0;  ///< The output blocks of a core, including looped batches.
  std::int64_t products = 0;       ///< The number of products of a core.

  KernelCost kernel;
};

/// Returns the time of ttnn's matmul kernels for `plan`. It is pure integer arithmetic without a
/// loop over blocks.
///
/// The method is in docs/method.md, "Matmul cost". Readers, compute and writer are a pipeline with
/// double-buffered inputs and a single-buffered output; the formula is the exact solution of that
/// recurrence. What is shared (the DRAM, by all readers of one NoC) bounds the rate of each reader.
MatmulCost matmul_cost(const MatmulPlan& plan, const ChipProfile& chip,
                       const SoftwareProfile& software);

/// Returns what must be dispatched for `plan`. In 2D, different kernels run on the cores at the
/// corner, in the left column, in the top row and in the two halves of the rest; in 1D, on the
/// sender and the receivers.
Footprint matmul_footprint(const MatmulPlan& plan, const SoftwareProfile& software);

}  // namespace howard::wormhole
