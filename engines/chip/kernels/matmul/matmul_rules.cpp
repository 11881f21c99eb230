// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/matmul/matmul_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace howard::chip {
namespace {

using Objection = std::optional<std::string>;

/// Objects unless `whole` is a multiple of `part`.
Objection must_divide(std::string_view whole, std::int64_t whole_size, std::string_view part,
                      std::int64_t part_size) {
  if (whole_size % part_size == 0) return std::nullopt;
  return fmt::format("{} must be divisible by {}: {} is {}, {} {}", whole, part, whole, whole_size,
                     part, part_size);
}

/// Objects unless `size` in shares of `share` is at most `most` shares.
Objection must_fit(std::string_view size_name, std::int64_t size, std::string_view share_name,
                   std::int64_t share, std::string_view where, std::int64_t most) {
  const std::int64_t blocks = ceil_div(size, share);
  if (blocks <= most) return std::nullopt;
  return fmt::format("{} {} in shares of {} {} are {} blocks, and there are {} {}", size_name, size,
                     share_name, share, blocks, most, where);
}

Objection grid_objection(const MatmulConfig& config, CoreGrid device) {
  if (config.grid.columns <= device.columns && config.grid.rows <= device.rows) return std::nullopt;
  return fmt::format(
      "compute_with_storage_grid_size {}x{} is larger than the {}x{} cores that there are",
      config.grid.columns, config.grid.rows, device.columns, device.rows);
}

/// Objects unless blocks fit a core's share, and sub-blocks fit those.
Objection block_objection(const MatmulProblem& problem, const MatmulConfig& config) {
  if (auto no = must_divide("Kt", problem.k, "in0_block_w", config.in0_block_w)) return no;
  const bool has_blocks = config.kind != MatmulKind::reuse;
  if (has_blocks) {
    if (auto no = must_divide("per_core_M", config.per_core_m, "out_block_h", config.out_block_h)) {
      return no;
    }
    if (auto no = must_divide("per_core_N", config.per_core_n, "out_block_w", config.out_block_w)) {
      return no;
    }
  }
  if (auto no = must_divide(has_blocks ? "out_block_h" : "per_core_M",
                            has_blocks ? config.out_block_h : config.per_core_m, "out_subblock_h",
                            config.subblock_h)) {
    return no;
  }
  if (auto no = must_divide(has_blocks ? "out_block_w" : "per_core_N",
                            has_blocks ? config.out_block_w : config.per_core_n, "out_subblock_w",
                            config.subblock_w)) {
    return no;
  }
  const std::int64_t most = destination_tiles(problem);
  const std::int64_t tiles = config.subblock_h * config.subblock_w;
  if (tiles <= most) return std::nullopt;
  return fmt::format(
      "out_subblock_h * out_subblock_w is {} tiles and needs to be at most {} to fit in hardware "
      "(8, or 4 with fp32_dest_acc_en)",
      tiles, most);
}

Objection batch_objection(const MatmulProblem& problem, const MatmulConfig& config) {
  if (problem.batch == 1) return std::nullopt;
  if (config.kind == MatmulKind::reuse) {
    if (problem.batched_a && problem.batched_b) return std::nullopt;
    return "Batch broadcasting is not supported for the chosen program config: A and B both need "
           "the batch";
  }
  if (!config.fuse_batch && problem.out_shards) {
    return "fuse_batch must be true for a sharded output: the shards of a batch are one matrix";
  }
  if (!config.fuse_batch || !problem.batched_b) return std::nullopt;
  return "fuse_batch makes the batch of A rows of one matrix, and B has a batch too";
}

/// Objects if a core's share of interleaved operands is larger than the result.
Objection share_too_large(const MatmulProblem& problem, const MatmulConfig& config,
                          std::int64_t m) {
  if (problem.in0_shards || problem.out_shards) return std::nullopt;
  if (config.per_core_m > m) {
    return fmt::format("per_core_M must be at most Mt: per_core_M is {}, Mt {}", config.per_core_m,
                       m);
  }
  if (config.per_core_n <= problem.n) return std::nullopt;
  return fmt::format("per_core_N must be at most Nt: per_core_N is {}, Nt {}", config.per_core_n,
                     problem.n);
}

/// Objects unless the shares of all cores together cover the result, each core having one.
Objection share_objection(const MatmulProblem& problem, const MatmulConfig& config) {
  const std::int64_t m = config.fuse_batch ? problem.batch * problem.m : problem.m;
  const int cores = config.grid.cores();
  switch (config.kind) {
    case MatmulKind::multicast_2d: {
      if (auto no = share_too_large(problem, config, m)) return no;
      const bool turned = config.transpose_mcast;
      const std::int64_t rows = turned ? config.grid.columns : config.grid.rows;
      const std::int64_t columns = turned ? config.grid.rows : config.grid.columns;
      if (auto no = must_fit("Mt", m, "per_core_M", config.per_core_m,
                             turned ? "columns of cores" : "rows of cores", rows)) {
        return no;
      }
      return must_fit("Nt", problem.n, "per_core_N", config.per_core_n,
                      turned ? "rows of cores" : "columns of cores", columns);
    }
    case MatmulKind::multicast_1d_in0:
      if (config.per_core_m != m) {
        return fmt::format("with mcast_in0 every core has all rows: per_core_M is {}, Mt {}",
                           config.per_core_m, m);
      }
      return must_fit("Nt", problem.n, "per_core_N", config.per_core_n, "cores", cores);
    case MatmulKind::multicast_1d_in1:
      if (config.per_core_n != problem.n) {
        return fmt::format("without mcast_in0 every core has all columns: per_core_N is {}, Nt {}",
                           config.per_core_n, problem.n);
      }
      return must_fit("Mt", m, "per_core_M", config.per_core_m, "cores", cores);
    case MatmulKind::reuse:
      if (config.per_core_n != problem.n) {
        return fmt::format("per_core_N must be Nt: per_core_N is {}, Nt {}", config.per_core_n,
                           problem.n);
      }
      if (config.per_core_m <= problem.m) {
        return must_divide("Mt", problem.m, "per_core_M", config.per_core_m);
      }
      if (auto no = must_divide("per_core_M", config.per_core_m, "Mt", problem.m)) return no;
      return must_divide("batch * Mt", problem.batch * problem.m, "per_core_M", config.per_core_m);
    case MatmulKind::multi_core:
    case MatmulKind::dram_sharded:
      break;
  }
  return std::nullopt;
}

bool is_width_sharded(const std::optional<Sharding>& shards) {
  return shards && shards->layout == ShardLayout::width;
}

/// Objects unless the operands lie as the DRAM-sharded kernel reads them: A and the result in width
/// shards in L1, B in width shards in the banks of DRAM.
Objection dram_sharded_objection(const MatmulProblem& problem, const MatmulConfig& config) {
  const bool in0_fits = is_width_sharded(problem.in0_shards) && problem.in0 == Storage::l1;
  const bool in1_fits = is_width_sharded(problem.in1_shards) && problem.in1 == Storage::dram;
  const bool out_fits = is_width_sharded(problem.out_shards) && problem.out == Storage::l1;
  if (!in0_fits) return "input_tensor_a.memory_config().memory_layout() == WIDTH_SHARDED, in L1";
  if (!in1_fits) return "input_tensor_b.memory_config().memory_layout() == WIDTH_SHARDED, in DRAM";
  if (!out_fits) return "output_mem_config.memory_layout() == WIDTH_SHARDED, in L1";
  if (problem.transposed_a || problem.transposed_b) return "operands are not transposed";
  if (problem.batch * problem.m != 1) {
    return fmt::format("currently only support in0 tensor height of tile height: Mt is {}",
                       problem.batch * problem.m);
  }
  if (config.per_core_m != 1) {
    return fmt::format("M == per_core_M: Mt is 1, per_core_M {}", config.per_core_m);
  }
  if (auto no = must_divide("Kt", problem.k, "in0_block_w", config.in0_block_w)) return no;
  if (auto no =
          must_divide("shard_shape[1] / in0_tile_width", problem.in0_shards->columns / kTileSide,
                      "in0_block_w", config.in0_block_w)) {
    return no;
  }
  return must_fit("Nt", problem.n, "per_core_N", config.per_core_n, "cores with a shard of A",
                  problem.in0_shards->grid.cores());
}

/// Objects unless a kind takes an A that is sharded so, in blocks that its shards are made of.
Objection shards_objection(const MatmulProblem& problem, const MatmulConfig& config) {
  if (config.gather_in0 &&
      (config.kind != MatmulKind::multicast_1d_in0 || !is_width_sharded(problem.in0_shards))) {
    return "gather_in0 is of 1D program configs with mcast_in0 and takes a width-sharded A";
  }
  if (!problem.in0_shards) return std::nullopt;
  const Sharding& shards = *problem.in0_shards;
  switch (config.kind) {
    case MatmulKind::multicast_1d_in0:
      if (shards.layout != ShardLayout::width) {
        return "input_tensor_a.memory_config().memory_layout() == WIDTH_SHARDED with mcast_in0";
      }
      if (!config.fuse_batch) return "fuse_batch must be true for a sharded A";
      break;
    case MatmulKind::multicast_1d_in1:
      if (shards.layout != ShardLayout::height) {
        return "input_tensor_a.memory_config().memory_layout() == HEIGHT_SHARDED without mcast_in0";
      }
      break;
    case MatmulKind::multicast_2d:
      if (shards.layout == ShardLayout::width) {
        return "input_tensor_a.memory_config().memory_layout() is BLOCK_SHARDED or HEIGHT_SHARDED";
      }
      break;
    case MatmulKind::reuse:
      if (shards.layout == ShardLayout::width) {
        return "input_tensor_a.memory_config().memory_layout() != WIDTH_SHARDED";
      }
      break;
    case MatmulKind::multi_core:
      return "MatmulMultiCoreProgramConfig takes interleaved operands";
    case MatmulKind::dram_sharded:
      return std::nullopt;
  }
  const std::int64_t rows = shards.rows / kTileSide;
  const std::int64_t columns = shards.columns / kTileSide;
  if (shards.layout != ShardLayout::width && rows != config.per_core_m) {
    return fmt::format(
        "per_core_M == shard_shape[0] / TILE_HEIGHT: per_core_M is {}, the shards {}",
        config.per_core_m, rows);
  }
  if (config.gather_in0) return std::nullopt;
  return must_divide("shard_shape[1] / TILE_WIDTH", columns, "in0_block_w", config.in0_block_w);
}

}  // namespace

Objection matmul_objection(const MatmulProblem& problem, const MatmulConfig& config,
                           CoreGrid device_grid) {
  if (problem.core_grid) return "core_grid and program_config cannot be given together";
  if (config.kind == MatmulKind::multi_core) return shards_objection(problem, config);
  if (config.kind == MatmulKind::dram_sharded) return dram_sharded_objection(problem, config);
  if (std::min({config.per_core_m, config.per_core_n, config.in0_block_w, config.out_block_h,
                config.out_block_w, config.subblock_h, config.subblock_w}) < 1 ||
      config.grid.columns < 1 || config.grid.rows < 1) {
    return "every size of a program config must be at least 1";
  }
  if (config.transpose_mcast && config.kind != MatmulKind::multicast_2d) {
    return "transpose_mcast is a field of the 2D multicast program config only";
  }
  if (auto no = grid_objection(config, device_grid)) return no;
  if (auto no = batch_objection(problem, config)) return no;
  if (auto no = block_objection(problem, config)) return no;
  if (auto no = shards_objection(problem, config)) return no;
  return share_objection(problem, config);
}

}  // namespace howard::chip
