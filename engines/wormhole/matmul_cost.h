// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "base/sim_time.h"
#include "engines/wormhole/matmul_planner.h"
#include "engines/wormhole/profile.h"

namespace howard::wormhole {

/// What a kernel spends most of its time on.
enum class Bottleneck : std::uint8_t {
  start,         ///< Starting the kernel and filling the pipeline.
  in0_reads,     ///< Reading A from DRAM and multicasting it.
  in1_reads,     ///< Reading B from DRAM and multicasting it.
  math,          ///< The matrix unit.
  unpack,        ///< Feeding the matrix unit from L1.
  output_writes  ///< Writing the product to DRAM.
};

/// "kernel start", "in0 reads", "in1 reads", "math", "unpack", "output writes".
std::string_view name_of(Bottleneck bottleneck);

/// The stages of a matmul kernel on the slowest core. A step is one block of K of one output block.
struct MatmulCost {
  SimTime in0_load;                ///< One step: read a block of A, multicast it.
  SimTime in1_load;                ///< One step: read a block of B, multicast it.
  SimTime compute;                 ///< One step: all tile products of the block.
  SimTime output_drain;            ///< Writing one output block.
  SimTime output_exposed;          ///< The part of it that no computation hides.
  std::int64_t steps = 0;          ///< All steps of a core.
  std::int64_t output_blocks = 0;  ///< Of a core, looped batches included.

  // Points in time since the kernel's start.
  SimTime compute_start;  ///< The first block has arrived.
  SimTime reads_end;
  SimTime first_write;
  SimTime math_end;
  SimTime total;

  Bottleneck bottleneck{};
};

/// The time of ttnn's matmul kernels for `plan`. Pure arithmetic on integers, no loop over blocks.
///
/// Method (docs/method.md, "Matmul cost"): readers, compute and writer are a pipeline over double
/// buffered inputs and a single buffered output; the formula is the exact solution of that
/// recurrence. What is shared (DRAM by all readers of one NoC) bounds each reader's rate.
MatmulCost matmul_cost(const MatmulPlan& plan, const ChipProfile& chip,
                       const SoftwareProfile& software);

}  // namespace howard::wormhole
