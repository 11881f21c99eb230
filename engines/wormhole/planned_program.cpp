// SPDX-License-Identifier: Apache-2.0
#include "engines/wormhole/planned_program.h"

#include "engines/wormhole/dram_sharing.h"
#include "engines/wormhole/matmul_cost.h"
#include "engines/wormhole/tile_ops.h"

namespace howard::wormhole {
namespace {

MatmulProblem problem_of(const Program& program, const MatmulAttributes& attributes) {
  const Shape& a = program.inputs[0].spec.shape;
  const Shape& out = program.output.spec.shape;
  return {.batch = out.batch(),
          .m = out.tile_rows(),
          .k = attributes.transpose_a ? a.tile_rows() : a.tile_columns(),
          .n = out.tile_columns(),
          .dtype = program.inputs[0].spec.dtype,
          .core_grid = attributes.core_grid,
          .compute = attributes.compute};
}

PlannedProgram plan_matmul_program(const Program& program, const MatmulAttributes& attributes,
                                   CoreGrid grid, const Profiles& profiles) {
  const MatmulPlan plan =
      plan_matmul(problem_of(program, attributes), grid, profiles.chip.l1_circular_buffers);
  return {.name = program.name,
          .footprint = matmul_footprint(plan, profiles.software),
          .kernel = matmul_cost(plan, profiles.chip, profiles.software).kernel,
          .matmul = plan};
}

/// ttnn's device operation for the program, as its profiler logs name it.
std::string_view operation_of(const Program& program) {
  if (std::holds_alternative<MatmulAttributes>(program.attributes)) return "Matmul";
  if (std::holds_alternative<ReduceAttributes>(program.attributes)) return "Reduce";
  if (std::holds_alternative<TransposeAttributes>(program.attributes)) {
    return "TransposeDeviceOperation";
  }
  return program.inputs.size() == 2 ? "BinaryNgDeviceOperation" : "UnaryDeviceOperation";
}

TensorFacts facts_of(const TensorSpec& spec) {
  return {.dimensions = spec.shape.dimensions(), .dtype = name_of(spec.dtype)};
}

ProgramFacts facts_of(const Program& program, const PlannedProgram& planned) {
  ProgramFacts facts{.operation = operation_of(program),
                     .outputs = {facts_of(program.output.spec)}};
  for (const Operand& input : program.inputs) facts.inputs.push_back(facts_of(input.spec));
  if (planned.matmul) {
    facts.fidelity = name_of(planned.matmul->fidelity);
    facts.attributes = planned.matmul->text();
  }
  return facts;
}

PlannedProgram plan(const Program& program, CoreGrid grid, const Profiles& profiles) {
  if (const auto* const matmul = std::get_if<MatmulAttributes>(&program.attributes)) {
    return plan_matmul_program(program, *matmul, grid, profiles);
  }
  if (const auto* const eltwise = std::get_if<EltwiseAttributes>(&program.attributes)) {
    return plan_eltwise(program, *eltwise, grid, profiles);
  }
  if (const auto* const reduce = std::get_if<ReduceAttributes>(&program.attributes)) {
    return plan_reduce(program, *reduce, grid, profiles);
  }
  return plan_transpose(program, grid, profiles);
}

}  // namespace

PlannedProgram plan_program(const Program& program, CoreGrid grid, const Profiles& profiles) {
  PlannedProgram planned = plan(program, grid, profiles);
  planned.facts = facts_of(program, planned);
  return planned;
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
