// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/sim_time.h"
#include "engines/chip/kernels/matmul/matmul_planner.h"
#include "engines/chip/kernels/plan/planned_program.h"
#include "engines/chip/profiles/profile.h"

namespace howard::chip {

/// The stages of a matmul kernel on the slowest core. A step is one block of K of one output block.
struct MatmulCost {
  SimTime in0_load;        ///< One step reads a block of A and multicasts it.
  SimTime in1_load;        ///< One step reads a block of B and multicasts it.
  SimTime compute;         ///< One step computes all tile products of the block.
  SimTime output_drain;    ///< Writing one output block.
  SimTime bias;            ///< The bias is added to one output block, after the last step of K.
  SimTime activation;      ///< The function is applied to one output block.
  SimTime output_exposed;  ///< Bias, activation, and what of writing is not hidden.
  SimTime restart;         ///< Before each further product of a looped batch.
  std::int64_t steps = 0;  ///< All steps of a core.
  std::int64_t output_blocks = 0;  ///< Those of a core, looped batches included.
  std::int64_t products = 0;       ///< Those of a core.

  KernelCost kernel;
};

/// Returns the time of ttnn's matmul kernels for `plan`. It is pure integer arithmetic without a
/// loop over blocks.
///
/// The method is in docs/method/matmul.md, "Matmul cost". Readers, compute and writer are a
/// pipeline with double-buffered inputs and a single-buffered output; the formula is the exact
/// solution of that recurrence. What is shared (the DRAM, by all readers of one NoC) bounds the
/// rate of each reader.
MatmulCost matmul_cost(const MatmulPlan& plan, const Profiles& profiles);

/// Returns what computing alone takes on the busiest core. It does not depend on the blocks, steps
/// of K and sub-blocks into which `plan` cuts its share: no such plan takes less.
SimTime least_matmul_time(const MatmulPlan& plan, const Profiles& profiles);

/// Returns what has to be dispatched. In 2D, the cores at the corner, in the left column, in the
/// top row and in the two halves of the rest run different kernels; in 1D, the sender and the
/// receivers do.
Footprint matmul_footprint(const MatmulPlan& plan, const SoftwareProfile& software);

/// Returns the launch of `program`, which is a product or has one in it, by `plan`.
PlannedProgram planned_product(const MatmulPlan& plan, const Profiles& profiles);

}  // namespace howard::chip
