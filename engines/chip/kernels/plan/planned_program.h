// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "engines/chip/kernels/plan/footprint.h"
#include "engines/chip/kernels/plan/kernel_buffers.h"
#include "engines/chip/kernels/plan/kernel_cost.h"
#include "engines/chip/kernels/plan/matmul_plan.h"
#include "engines/chip/kernels/plan/work_split.h"
#include "engines/chip/profiles/band.h"
#include "engines/program/program.h"

namespace howard::chip {

/// One launch as the chip will run it: planned, with its cost at every stage.
struct PlannedProgram {
  std::string_view name{};  ///< What timelines and tables call it: that of its program.
  std::string_view op{};    ///< The op that it is, by which its time is known: "matmul".
  Footprint footprint;
  KernelCost kernel;
  KernelBuffers buffers;             ///< Its circular buffers.
  std::optional<MatmulPlan> matmul;  ///< Only for a matrix product.
  /// How its parts go together is predicted, though each part by itself is measured.
  bool predicted = false;
  const Band* learnt = nullptr;  ///< How far off it is if a card says its time; null: none does.
  Program program;               ///< What was planned.
  CoreGrid grid{};               ///< The cores that it was given.
};

/// The words of arguments of each core, and the circular buffers, of an op's kernels.
struct KernelNeeds {
  int arguments = 0;
  int circular_buffers = 0;
};

/// Returns the launch of an op other than a matrix product, whose work is dealt out as `work` says.
inline PlannedProgram planned(const WorkSplit& work, KernelNeeds needs, const KernelCost& kernel,
                              const SoftwareProfile& software) {
  return {.footprint = op_footprint(work.cores, work.kernel_groups, needs.arguments,
                                    needs.circular_buffers, software),
          .kernel = kernel};
}

}  // namespace howard::chip
