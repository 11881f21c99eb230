// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/plan/matmul_plan.h"

#include <fmt/format.h>

namespace howard::chip {

MatmulConfig config_of(const MatmulPlan& plan) {
  MatmulConfig config = plan.config;
  config.per_core_m *= plan.batch_in_share;
  config.out_block_h *= plan.batch_in_share;
  config.fuse_batch = plan.batch == 1 || !plan.is_multicast();
  return config;
}

std::string MatmulPlan::text() const {
  return fmt::format("{}{} {} cores, per core {}x{}, block {}x{}, k {}, sub-block {}x{}, {}",
                     name_of(config.kind), config.transpose_mcast ? " transposed" : "",
                     active_cores(), config.per_core_m, config.per_core_n, config.out_block_h,
                     config.out_block_w, config.in0_block_w, config.subblock_h, config.subblock_w,
                     name_of(fidelity));
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

namespace {

/// Returns the type of partial sums. Only sums that the packer adds up in L1, of more than two
/// steps of K, or of more than one with a bias, are wider than the result.
DataType partial_type(const MatmulPlan& plan) {
  if (plan.fp32_accumulation) return DataType::float32;
  const bool adds_up = plan.packer_accumulates && plan.k_blocks() > (plan.problem.bias ? 1 : 2);
  return adds_up ? DataType::bfloat16 : plan.problem.types.out;
}

/// Returns what partial sums and results take together. They share a buffer if their types are
/// equal, unless the result is in shards of several blocks: shards are their own buffer.
Bytes result_bytes(const MatmulPlan& plan) {
  const std::int64_t tiles = plan.config.out_block_h * plan.config.out_block_w;
  const DataType partial = partial_type(plan), out = plan.problem.types.out;
  const bool in_shards = plan.problem.out_shards.has_value();
  const bool shares =
      partial == out && (!in_shards || plan.config.per_core_m == plan.config.out_block_h);
  return tiles *
         ((in_shards ? Bytes() : tile_bytes(out)) + (shares ? Bytes() : tile_bytes(partial)));
}

}  // namespace

Bytes circular_buffer_bytes(const MatmulPlan& plan) {
  const MatmulBuffers buffers = buffers_of(plan);
  if (plan.config.kind == MatmulKind::dram_sharded) {
    // Three blocks of B are in flight.
    return buffers.size(plan.config.out_block_h, plan.config.out_block_w, plan.config.in0_block_w) +
           plan.config.in0_block_w * plan.config.out_block_w * buffers.in1_tile;
  }
  // Blocks are double buffered where there is more than one. Shards of rows of A are read where
  // they are.
  const std::int64_t blocks = plan.batch * plan.k_blocks() > 1 ? 2 : 1;
  const bool in_place = plan.problem.in0_shards && plan.config.kind == MatmulKind::multicast_1d_in1;
  const Bytes a = in_place ? Bytes() : plan.config.out_block_h * buffers.in0_tile;
  return blocks * plan.config.in0_block_w * (a + plan.config.out_block_w * buffers.in1_tile) +
         plan.config.out_block_w * buffers.bias_tile + result_bytes(plan);
}

}  // namespace howard::chip
