// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/plan/matmul_plan.h"

#include <fmt/format.h>

namespace howard::chip {

MatmulConfig config_of(const MatmulPlan& plan) {
  return {.kind = plan.kind,
          .grid = plan.grid,
          .per_core_m = plan.per_core_m * plan.batch_in_share,
          .per_core_n = plan.per_core_n,
          .in0_block_w = plan.in0_block_w,
          .out_block_h = plan.out_block_h * plan.batch_in_share,
          .out_block_w = plan.out_block_w,
          .subblock_h = plan.subblock_h,
          .subblock_w = plan.subblock_w,
          .transpose_mcast = plan.transpose_mcast,
          .fuse_batch = plan.batch == 1 || !plan.is_multicast(),
          .gather_in0 = plan.gather_in0};
}

std::string MatmulPlan::text() const {
  return fmt::format("{}{} {} cores, per core {}x{}, block {}x{}, k {}, sub-block {}x{}, {}",
                     name_of(kind), transpose_mcast ? " transposed" : "", active_cores(),
                     per_core_m, per_core_n, out_block_h, out_block_w, in0_block_w, subblock_h,
                     subblock_w, name_of(fidelity));
}

MatmulBuffers buffers_of(const MatmulPlan& plan) {
  const Bytes out_tile = tile_bytes(plan.problem.types.out);
  // Partial sums have the destination's format: fp32 or bf16, and never a block format.
  const Bytes partial = plan.fp32_accumulation ? tile_bytes(DataType::float32)
                                               : std::max(tile_bytes(DataType::bfloat16), out_tile);
  return {.in0_tile = tile_bytes(plan.problem.types.a),
          .in1_tile = tile_bytes(plan.problem.types.b),
          .output_tile = out_tile,
          .partial_tile = partial,
          .bias_tile = plan.problem.bias ? tile_bytes(plan.problem.types.bias) : Bytes()};
}

Bytes circular_buffer_bytes(const MatmulPlan& plan) {
  const MatmulBuffers buffers = buffers_of(plan);
  Bytes size = buffers.size(plan.out_block_h, plan.out_block_w, plan.in0_block_w);
  if (plan.kind != MatmulKind::dram_sharded) {
    // Shards of the result are its buffer, where partial sums of one step need no other, and those
    // of rows of A are read where they are.
    const std::int64_t results = plan.out_block_h * plan.out_block_w;
    if (plan.problem.out_shards) {
      size = size - results * buffers.output_tile;
      if (plan.k_blocks() == 1) size = size - results * buffers.partial_tile;
    }
    if (plan.problem.in0_shards && plan.kind == MatmulKind::multicast_1d_in1) {
      size = size - 2 * plan.out_block_h * plan.in0_block_w * buffers.in0_tile;
    }
    return size;
  }
  // Three blocks of B are in flight.
  return size + plan.in0_block_w * plan.out_block_w * buffers.in1_tile;
}

}  // namespace howard::chip
