// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/planner.h"

#include <utility>
#include <variant>

#include "engines/chip/kernels/card_times.h"
#include "engines/chip/kernels/matmul/matmul_cost.h"
#include "engines/chip/kernels/plan/plans.h"
#include "engines/chip/memory/dram_sharing.h"

namespace howard::chip {
PlannedProgram plan_program(Program program, CoreGrid grid, const Profiles& profiles,
                            const std::optional<MatmulPlan>& matmul) {
  PlannedProgram planned =
      matmul ? planned_product(*matmul, profiles)
             : std::visit([&](const auto& op) { return plan(op, program, grid, profiles); },
                          program.attributes.variant());
  planned.name = program.name;
  planned.op = name_of(program.attributes);
  planned.grid = grid;
  planned.buffers = planned.matmul
                        ? KernelBuffers::of(circular_buffer_bytes(*planned.matmul))
                        : kernel_buffers(program, grid, profiles.chip.l1_circular_buffers,
                                         planned.footprint.circular_buffers);
  planned.program = std::move(program);
  if (profiles.card != nullptr) take_card(*profiles.card, planned);
  return planned;
}

Launch launch_of(const PlannedProgram& planned, DispatchCoreType type, const Profiles& profiles) {
  return {.dispatch = dispatch_time(planned.footprint, type, profiles.software),
          .go = go_time(planned.footprint, profiles.software, type),
          .kernel = planned.kernel.total,
          .configuration = configuration_bytes(planned.footprint),
          .dram_share = share_of(transfer_time(planned.kernel.dram, profiles.chip.dram_bandwidth),
                                 planned.kernel.total),
          .planned = &planned};
}

void leave_out_binaries(Launch& launch, DispatchCoreType type, const SoftwareProfile& software) {
  const Footprint rest = without_binaries(launch.planned->footprint);
  launch.dispatch = dispatch_time(rest, type, software);
  launch.configuration = configuration_bytes(rest);
}

}  // namespace howard::chip
