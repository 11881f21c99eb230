// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engines/chip/kernels/collective/collective.h"
#include "engines/chip/kernels/matmul/matmul_cost.h"
#include "engines/chip/kernels/matmul/matmul_planner.h"
#include "engines/chip/kernels/plan/plans.h"

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

/// Returns the plan of a program that has a `product` and an exchange at once and takes `total`.
PlannedProgram fuse(const PlannedProgram& product, const KernelCost& exchange, SimTime total) {
  PlannedProgram fused = product;
  KernelCost& kernel = fused.kernel;
  if (exchange.total > kernel.total) kernel.bottleneck = exchange.bottleneck;
  kernel.unshared = kernel.unshared + (total - kernel.total);
  kernel.reads_end = kernel.math_end = kernel.total = total;
  kernel.dram += exchange.dram;
  fused.predicted = true;
  return fused;
}

}  // namespace

PlannedProgram plan(const AllGatherMatmulAttributes& attributes, const Program& program,
                    CoreGrid grid, const Profiles& profiles) {
  const Operand& whole = program.outputs[0];
  Program gather = program;
  gather.attributes = attributes.gather;
  gather.inputs = {program.inputs[0], program.inputs[1]};
  gather.outputs = {whole};
  const KernelCost exchange = plan(attributes.gather, gather, grid, profiles).kernel;
  const Program product = product_of(program, whole, attributes.matmul, program.outputs[1]);
  const PlannedProgram planned =
      planned_product(plan_matmul(product, attributes.matmul, grid, profiles), profiles);
  const SimTime multiplied = planned.kernel.total;
  const int chips = line_of(gather, true, attributes.gather.use).chips;
  const SimTime total = std::max(multiplied, exchange.total + part_of(multiplied, chips));
  return fuse(planned, exchange, total);
}

PlannedProgram plan(const MatmulReduceScatterAttributes& attributes, const Program& program,
                    CoreGrid grid, const Profiles& profiles) {
  const Operand& whole = program.outputs[0];
  Program scatter = program;
  scatter.attributes = attributes.scatter;
  scatter.inputs = {whole, program.inputs[1]};
  scatter.outputs = {program.outputs[1]};
  const KernelCost exchange = plan(attributes.scatter, scatter, grid, profiles).kernel;
  const Program product =
      product_of(program, program.inputs[0], attributes.matmul, program.outputs[0]);
  const PlannedProgram planned =
      planned_product(plan_matmul(product, attributes.matmul, grid, profiles), profiles);
  const SimTime multiplied = planned.kernel.total;
  const int chips = line_of(scatter, false, attributes.scatter.use).chips;
  // The start and the steps of the way are those of the last share too.
  const SimTime way = exchange.compute_start;
  const SimTime last = way + part_of(exchange.total - way, chips);
  const SimTime total = std::max(multiplied + last, part_of(multiplied, chips) + exchange.total);
  return fuse(planned, exchange, total);
}

}  // namespace howard::chip
