// SPDX-License-Identifier: Apache-2.0
#include "engines/wormhole/matmul_program.h"

namespace howard::wormhole {

MatmulPlan plan_of(const Program& program, const MatmulAttributes& attributes, CoreGrid grid,
                   const Profiles& profiles) {
  const Shape& a = program.inputs[0].spec.shape;
  const Shape& out = program.outputs[0].spec.shape;
  return plan_matmul({.batch = out.batch(),
                      .batched_a = a.batch() > 1,
                      .batched_b = program.inputs[1].spec.shape.batch() > 1,
                      .m = out.tile_rows(),
                      .k = attributes.transpose_a ? a.tile_rows() : a.tile_columns(),
                      .n = out.tile_columns(),
                      .dtype = program.inputs[0].spec.dtype,
                      .core_grid = attributes.core_grid,
                      .compute = attributes.compute,
                      .transposed_b = attributes.transpose_b,
                      .bias = program.inputs.size() > 2},
                     grid, profiles.chip.l1_circular_buffers);
}

}  // namespace howard::wormhole
