// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "engines/chip/kernels/convolution/convolution.h"
#include "engines/chip/kernels/elementwise/elementwise.h"
#include "engines/chip/kernels/pipeline/pages.h"
#include "engines/chip/kernels/pipeline/tile_product.h"
#include "engines/chip/kernels/plan/plans.h"

namespace howard::chip {
namespace {

constexpr int kConvBuffers = 9;

/// What a core does: blocks of stops, and for each of them steps along the products' sums. In a
/// step it reads what stops see in rows ("sticks"), tilizes it and multiplies it with weights.
struct ConvWork {
  int cores = 1;
  std::int64_t block_m = 1, block_n = 1;  ///< Tiles of the result.
  std::int64_t blocks = 1;                ///< Blocks of a core, one after the other.
  std::int64_t steps = 1;                 ///< For each block.
  std::int64_t step_k = 1;                ///< Tiles of the sum in a step.
  std::int64_t sticks = 1;                ///< Read in all own steps of a block.
  std::int64_t own_steps = 1;             ///< Those whose activations the core prepares itself.
  Bytes stick;
  bool shares_x = false;       ///< Each core multicasts what it has tilized to others.
  bool shares_weights = true;  ///< A core reads weights and multicasts them to others.
  std::int64_t weight_readers = 1;
};

SimTime part(SimTime whole, std::int64_t parts) { return SimTime::picoseconds(whole.ps() / parts); }

std::int64_t or_else(std::int64_t given, std::int64_t otherwise) {
  return given > 0 ? given : otherwise;
}

ConvWork work_of(const Program& program, const Conv2dAttributes& op, CoreGrid grid) {
  const Shape& x = program.inputs[0].spec.shape;
  const Window& window = op.window;
  const std::int64_t m = ceil_div(window.places_out(), kTileSide);
  const std::int64_t n = program.outputs[0].spec.shape.tile_columns();
  const bool in_row = window.dilation[1] == 1;  // One request reads a row of the window.
  const std::int64_t reads = window.size[0] * (in_row ? 1 : window.size[1]);
  const bool block = op.sharding == ShardLayout::block;
  const bool width = op.sharding == ShardLayout::width;
  const std::int64_t all_m = block ? grid.rows : grid.cores();
  const std::int64_t all_n = block ? grid.columns : grid.cores();
  const std::int64_t cores_m = width ? 1 : std::min(m, or_else(op.cores, all_m));
  const std::int64_t cores_n = op.sharding == ShardLayout::height
                                   ? 1
                                   : std::min(x.tile_columns(), or_else(op.channel_cores, all_n));
  // ttnn gives sticks at least 16 bytes.
  const std::int64_t channels = ceil_div(ceil_div(x.columns(), cores_n), 8) * 8;

  ConvWork work{.block_m = ceil_div(m, cores_m), .block_n = ceil_div(n, cores_n)};
  if (op.act_block_h > 0) {
    // A size that does not divide the core's tiles is not taken.
    const std::int64_t given = std::min(op.act_block_h, work.block_m);
    work.blocks = work.block_m % given == 0 ? work.block_m / given : work.block_m;
    work.block_m /= work.blocks;
  }
  const bool whole = width || (block ? op.full_inner_dim : op.reuses_x);
  work.own_steps = whole ? 1 : window.size[0];
  work.step_k = ceil_div(channels * window.size[1] * (whole ? window.size[0] : 1), kTileSide);
  work.steps = work.own_steps * cores_n;
  work.sticks = work.block_m * kTileSide * (op.reuses_x && whole && !block ? 1 : reads);
  work.stick = Bytes(2 * channels * (in_row ? window.size[1] : 1));
  work.cores = static_cast<int>(cores_m * cores_n);
  work.shares_x = cores_n > 1;
  work.shares_weights = !width && cores_m > 1;
  work.weight_readers = cores_n;
  return work;
}

/// Returns ttnn's sub-block of a convolution: as wide as the block allows, and high where it is as
/// wide as the block.
SubBlock subblock_of(const ConvWork& work, std::int64_t most, Bytes tile, Bytes weight) {
  const auto largest = [](std::int64_t of, std::int64_t limit) {
    while (of % limit != 0) --limit;
    return limit;
  };
  SubBlock subblock{.width = largest(work.block_n, most), .in0_tile = tile, .in1_tile = weight};
  if (subblock.width == work.block_n) {
    subblock.height = largest(work.block_m, most / subblock.width);
  }
  return subblock;
}

/// The times of a step.
struct StepTimes {
  SimTime read, tilize;  ///< Of what the core prepares itself.
  SimTime multicast;     ///< Of what others need, if they do.
  SimTime weights, product, unpack;
};

/// Returns how long the parts of a step take, for `work`.
StepTimes times_of(const Program& program, const Conv2dAttributes& op, const ConvWork& work,
                   const Profiles& profiles) {
  const ChipProfile& chip = profiles.chip;
  const SoftwareProfile& software = profiles.software;
  const Bytes weight = tile_bytes(program.inputs[1].spec.dtype);
  // A halo gives rows of bfloat16, which are tilized into the type of the result.
  const bool packs = is_block_format(program.outputs[0].spec.dtype);
  const Bytes tile = tile_bytes(packs ? DataType::bfloat8_b : DataType::bfloat16);
  const std::int64_t x_tiles = work.block_m * work.step_k;
  const std::int64_t w_tiles = work.block_n * work.step_k;
  const std::int64_t results = work.block_m * work.block_n;
  const bool wide = op.compute.fp32_accumulation.value_or(false);
  StepTimes times{
      .read = chip.l1_latency + work.sticks / work.own_steps * stick_time(work.stick, profiles),
      .tilize = x_tiles * (packs ? software.convolution.tilize_block : software.convolution.tilize),
      .weights = chip.noc_read_latency + w_tiles * std::max(software.convolution.dram_read,
                                                            transfer_time(weight, chip.noc_link))};
  if (work.shares_x) {
    times.multicast = chip.l1_latency + transfer_time(x_tiles * tile, chip.noc_multicast);
  }
  if (work.shares_weights) times.weights += transfer_time(w_tiles * weight, chip.noc_multicast);

  const auto fidelity =
      static_cast<std::int64_t>(op.compute.fidelity.value_or(MathFidelity::hifi4));
  const SubBlock subblock = subblock_of(work, wide ? 4 : 8, tile, weight);
  const SimTime unpack = unpack_time(subblock, chip);
  const SimTime math = chip.tile_pass() * fidelity + software.matmul_tile_product;
  SimTime result = work.step_k * std::max(math, unpack) + software.matmul_output_tile;
  if (work.steps > 1) {
    // Partial sums are added by the packer, or they go to L1 and come back.
    const Bytes sum = tile_bytes(wide ? DataType::float32 : DataType::bfloat16);
    const bool adds = op.compute.packer_accumulates.value_or(false);
    result = adds
                 ? std::max(result, chip.pack_accumulate_tile * (wide ? 2 : 1))
                 : result + spill_time(subblock.height * subblock.width, sum, work.steps, profiles);
  }
  times.product = results * result;
  times.unpack = results * work.step_k * unpack;
  return times;
}

/// Returns what a block takes after its last step: its bias, its activation and rows if these are
/// wanted.
SimTime finish_time(const Program& program, const Conv2dAttributes& op, const ConvWork& work,
                    const Profiles& profiles) {
  const TensorSpec& out = program.outputs[0].spec;
  const std::int64_t results = work.block_m * work.block_n;
  SimTime time;
  if (program.inputs.size() > 2) {
    const Bytes moved = tile_bytes(DataType::bfloat16) + tile_bytes(program.inputs[2].spec.dtype);
    time += results *
            (transfer_time(moved, profiles.chip.unpack) + profiles.software.matmul_output_tile);
  }
  if (op.activation && op.activation->function != Eltwise::relu) {
    time += results * fused_math_time(op.activation->function, profiles.software.tiles);
  }
  if (out.layout == Layout::row_major) time += results * profiles.software.convolution.tilize;
  return time;
}

/// When each part of a core is done with its latest step.
struct Progress {
  SimTime reader, weights, compute;
};

/// Says how the two RISCs that move data share their work.
enum class Readers : std::uint8_t {
  one,    ///< One reads activations and the other weights.
  split,  ///< Both read half of the activations, and one of them weights after that.
};

/// Follows the steps of a core through buffers for one or two steps of activations and of weights.
/// After a while all steps take equally long.
SimTime steps_time(const Conv2dAttributes& op, const ConvWork& work, const StepTimes& times,
                   SimTime finish, Readers readers) {
  constexpr std::int64_t kFollowed = 64;
  const std::int64_t all = work.blocks * work.steps;
  const std::size_t x_buffers = op.double_buffers_x ? 2 : 1;
  const std::size_t w_buffers = op.double_buffers_weights ? 2 : 1;
  const bool split = readers == Readers::split;
  const SimTime load = work.shares_x ? times.multicast : split ? part(times.read, 2) : times.read;
  const SimTime tilize = work.shares_x ? SimTime() : times.tilize;
  // The last times at which buffers became free, the latest one first.
  std::array<SimTime, 2> x_free{}, w_free{};
  Progress now, middle;
  const std::int64_t followed = std::min(all, kFollowed);
  for (std::int64_t i = 0; i < followed; ++i) {
    now.reader = std::max(now.reader, x_free.at(x_buffers - 1)) + load;
    now.weights =
        std::max(split ? now.reader : now.weights, w_free.at(w_buffers - 1)) + times.weights;
    const SimTime arrived = now.reader;
    if (split) now.reader = now.weights;
    const SimTime tilized = std::max(arrived, now.compute) + tilize;
    now.compute = std::max(tilized, now.weights) + times.product + part(finish, work.steps);
    x_free = {work.shares_x ? now.compute : tilized, x_free[0]};
    w_free = {now.compute, w_free[0]};
    if (i + 1 == followed / 2) middle = now;
  }
  if (all == followed) return now.compute;
  const std::int64_t half = followed - followed / 2;
  return now.compute + part(now.compute - middle.compute, half) * (all - followed);
}

}  // namespace

PlannedProgram plan(const Conv2dAttributes& op, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const ConvWork work = work_of(program, op, grid);
  const StepTimes times = times_of(program, op, work, profiles);
  const SimTime finish = finish_time(program, op, work, profiles);
  // Where others need what a core has tilized, it prepares a whole block with both RISCs before it
  // multicasts.
  SimTime prepared;
  if (work.shares_x) prepared = work.blocks * work.own_steps * (part(times.read, 2) + times.tilize);
  const bool can_split = !work.shares_x && work.block_m > 1;
  SimTime steps = steps_time(op, work, times, finish, Readers::one);
  if (can_split) {
    // ttnn splits the reader where its own estimate says that this is faster.
    steps = std::min(steps, steps_time(op, work, times, finish, Readers::split));
  }
  const std::int64_t all = work.blocks * work.steps;
  const std::int64_t w_tiles = work.block_n * work.step_k * all;
  KernelCost kernel{.grid = grid, .cores = work.cores};
  kernel.dram = work.weight_readers * w_tiles * tile_bytes(program.inputs[1].spec.dtype);
  const SimTime start = profiles.software.matmul_start;
  kernel.compute_start = start + (work.shares_x ? prepared : times.read);
  kernel.total =
      start + std::max(prepared + steps, transfer_time(kernel.dram, profiles.chip.dram_read_noc0));
  kernel.reads_end = kernel.total - times.product;
  kernel.first_write = kernel.total - part(times.product, 2);
  kernel.math_end = kernel.unshared = kernel.total;
  const SimTime reads = work.shares_x ? prepared + all * times.multicast : all * times.read;
  const std::array<std::pair<SimTime, Bottleneck>, 4> parts{
      {{reads, Bottleneck::in0_reads},
       {all * times.weights, Bottleneck::in1_reads},
       {all * (times.product + times.tilize), Bottleneck::math},
       {start, Bottleneck::start}}};
  kernel.bottleneck = std::ranges::max(parts, {}, &std::pair<SimTime, Bottleneck>::first).second;
  if (kernel.bottleneck == Bottleneck::math && times.unpack * 10 > times.product * 9) {
    kernel.bottleneck = Bottleneck::unpack;
  }
  return {.footprint = {.cores = work.cores,
                        .binaries = 5,
                        .binary_bytes = profiles.software.ttnn_matmul_binary_bytes,
                        .circular_buffers = kConvBuffers,
                        .semaphores = 4,
                        .unique_arguments = profiles.software.ttnn_other_arguments},
          .kernel = kernel};
}

}  // namespace howard::chip
