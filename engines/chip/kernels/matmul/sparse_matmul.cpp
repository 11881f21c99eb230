// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/plan/plans.h"

namespace howard::chip {

PlannedProgram plan(const SparseMatmulAttributes& attributes, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const Shape& blocks = program.outputs[0].spec.shape;
  const std::int64_t used = attributes.multiplied(blocks);
  const auto of_used = [&](TensorSpec spec) -> Operand {
    spec.shape = {1, used, spec.shape.rows(), spec.shape.columns()};
    spec.sharding.reset();
    return spec;
  };
  MatmulAttributes product{.compute = attributes.compute, .config = attributes.config};
  if (product.config) product.config->fuse_batch = false;
  PlannedProgram planned =
      plan(product,
           make_program(product, {of_used(program.inputs[0].spec), of_used(program.inputs[1].spec)},
                        {of_used(program.outputs[0].spec)}),
           grid, profiles);
  KernelCost& kernel = planned.kernel;
  const SimTime looks = blocks.batch() * profiles.software.sparse_matmul_block;
  if (looks > kernel.total) kernel.bottleneck = Bottleneck::in0_reads;
  for (SimTime* const end : {&kernel.reads_end, &kernel.first_write, &kernel.math_end,
                             &kernel.total, &kernel.unshared}) {
    *end += looks;
  }
  return planned;
}

}  // namespace howard::chip
