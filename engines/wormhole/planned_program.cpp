// SPDX-License-Identifier: Apache-2.0
#include "engines/wormhole/planned_program.h"

#include "engines/wormhole/dram_sharing.h"
#include "engines/wormhole/matmul_cost.h"

namespace howard::wormhole {
namespace {

MatmulProblem problem_of(const Program& program, const MatmulAttributes& attributes) {
  const Shape& a = program.inputs[0].spec.shape;
  return {.batch = a.batch(),
          .m = a.tile_rows(),
          .k = a.tile_columns(),
          .n = program.inputs[1].spec.shape.tile_columns(),
          .dtype = program.inputs[0].spec.dtype,
          .core_grid = attributes.core_grid,
          .compute = attributes.compute};
}

PlannedProgram plan_of(const Program& program, const MatmulAttributes& attributes, CoreGrid grid,
                       const Profiles& profiles) {
  const MatmulPlan plan =
      plan_matmul(problem_of(program, attributes), grid, profiles.chip.l1_circular_buffers);
  return {.name = program.name,
          .footprint = matmul_footprint(plan, profiles.software),
          .kernel = matmul_cost(plan, profiles.chip, profiles.software).kernel,
          .matmul = plan};
}

}  // namespace

PlannedProgram plan_program(const Program& program, CoreGrid grid, const Profiles& profiles) {
  return std::visit(
      [&](const auto& attributes) { return plan_of(program, attributes, grid, profiles); },
      program.attributes);
}

Launch launch_of(const PlannedProgram& planned, DispatchCoreType type, const Profiles& profiles) {
  return {.dispatch = dispatch_time(planned.footprint, type, profiles.software),
          .go = go_time(planned.footprint, profiles.software),
          .kernel = planned.kernel.total,
          .configuration = configuration_bytes(planned.footprint),
          .dram_share = share_of(transfer_time(planned.kernel.dram, profiles.chip.dram_bandwidth),
                                 planned.kernel.total),
          .planned = &planned};
}

}  // namespace howard::wormhole
