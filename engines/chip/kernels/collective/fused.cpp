// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/collective/fused.h"

#include <algorithm>

#include "engines/chip/kernels/collective/collective.h"
#include "engines/chip/kernels/matmul/matmul_cost.h"
#include "engines/chip/kernels/matmul/matmul_planner.h"

namespace howard::chip {
namespace {

/// Returns the product within a fused program, whose second operand is the group of chips.
Program product_of(const Program& fused, const Operand& a, const MatmulAttributes& attributes,
                   const Operand& result) {
  Program product = fused;
  product.attributes = attributes;
  product.inputs = {a};
  product.inputs.insert(product.inputs.end(), fused.inputs.begin() + 2, fused.inputs.end());
  product.outputs = {result};
  return product;
}

SimTime part_of(SimTime time, int parts) { return SimTime::picoseconds(time.ps() / parts); }

/// Returns the plan of a program that is a product and an exchange at once and takes `total`.
PlannedProgram fuse(const Program& program, const MatmulPlan& plan, const KernelCost& product,
                    const PlannedProgram& exchange, SimTime total, const Profiles& profiles) {
  PlannedProgram fused{.name = program.name,
                       .footprint = matmul_footprint(plan, profiles.software),
                       .kernel = product,
                       .matmul = plan};
  KernelCost& kernel = fused.kernel;
  if (exchange.kernel.total > product.total) kernel.bottleneck = exchange.kernel.bottleneck;
  kernel.unshared = kernel.unshared + (total - product.total);
  kernel.reads_end = kernel.math_end = kernel.total = total;
  kernel.dram += exchange.kernel.dram;
  return fused;
}

}  // namespace

PlannedProgram plan_all_gather_matmul(const Program& program,
                                      const AllGatherMatmulAttributes& attributes, CoreGrid grid,
                                      const Profiles& profiles) {
  const Operand& whole = program.outputs[0];
  Program gather = program;
  gather.attributes = attributes.gather;
  gather.inputs = {program.inputs[0], program.inputs[1]};
  gather.outputs = {whole};
  const PlannedProgram exchange = plan_all_gather(gather, attributes.gather, grid, profiles);
  const Program product = product_of(program, whole, attributes.matmul, program.outputs[1]);
  const MatmulPlan plan = plan_matmul(product, attributes.matmul, grid, profiles.chip);
  const KernelCost cost = matmul_cost(plan, profiles).kernel;
  const int chips = line_of(gather, true, attributes.gather.use).chips;
  const SimTime total = std::max(cost.total, exchange.kernel.total + part_of(cost.total, chips));
  return fuse(program, plan, cost, exchange, total, profiles);
}

PlannedProgram plan_matmul_reduce_scatter(const Program& program,
                                          const MatmulReduceScatterAttributes& attributes,
                                          CoreGrid grid, const Profiles& profiles) {
  const Operand& whole = program.outputs[0];
  Program scatter = program;
  scatter.attributes = attributes.scatter;
  scatter.inputs = {whole, program.inputs[1]};
  scatter.outputs = {program.outputs[1]};
  const PlannedProgram exchange = plan_reduce_scatter(scatter, attributes.scatter, grid, profiles);
  const Program product =
      product_of(program, program.inputs[0], attributes.matmul, program.outputs[0]);
  const MatmulPlan plan = plan_matmul(product, attributes.matmul, grid, profiles.chip);
  const KernelCost cost = matmul_cost(plan, profiles).kernel;
  const int chips = line_of(scatter, false, attributes.scatter.use).chips;
  // The start and the steps of the way are those of the last share too.
  const SimTime way = exchange.kernel.compute_start;
  const SimTime last = way + part_of(exchange.kernel.total - way, chips);
  const SimTime total =
      std::max(cost.total + last, part_of(cost.total, chips) + exchange.kernel.total);
  return fuse(program, plan, cost, exchange, total, profiles);
}

}  // namespace howard::chip
