// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "engines/chip/kernels/elementwise/elementwise.h"
#include "engines/chip/kernels/matmul/matmul_planner.h"
#include "engines/chip/kernels/pipeline/pages.h"
#include "engines/chip/kernels/pipeline/tile_product.h"
#include "engines/chip/kernels/plan/plans.h"

namespace howard::chip {
namespace {

/// A product in tiles, and how it is dealt out.
struct MinimalSplit {
  CoreGrid grid;
  std::int64_t m = 1, k = 1, n = 1;
  bool transposed = false;  ///< M is dealt out over columns and N over rows.
  std::int64_t m_cores = 1, n_cores = 1;
  std::int64_t per_core_m = 1, per_core_n = 1;
};

MinimalSplit split_minimal(const Program& program, CoreGrid grid) {
  const Shape& a = program.inputs[0].spec.shape;
  const Shape& b = program.inputs[1].spec.shape;
  MinimalSplit split{
      .grid = grid, .m = a.batch() * a.tile_rows(), .k = a.tile_columns(), .n = b.tile_columns()};
  split.transposed = split.m > split.n;
  split.m_cores = split.transposed ? grid.columns : grid.rows;
  split.n_cores = split.transposed ? grid.rows : grid.columns;
  split.per_core_m = ceil_div(split.m, split.m_cores);
  split.per_core_n = ceil_div(split.n, split.n_cores);
  return split;
}

/// Returns `whole` cut into blocks, the last of which may be smaller.
std::vector<std::int64_t> blocks_of(std::int64_t whole, std::int64_t block) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t at = 0; at < whole; at += block) sizes.push_back(std::min(block, whole - at));
  return sizes;
}

/// One block of K for one block of the output.
struct MinimalStep {
  std::int64_t in0_tiles = 0, in1_tiles = 0;  ///< Zero where the block is still there.
  SimTime compute;
};

/// The times of computing.
struct TileTimes {
  SimTime product;      ///< The product of two tiles: its passes or unpacking them.
  SimTime partial_sum;  ///< Handing a tile of the output to the packer, at each step of K.
  /// A tile goes through the registers once more, with the bias and the activation, after the last
  /// step.
  SimTime copy;
};

/// Returns the steps in the kernel's order: the blocks of the output in a serpentine, and K to and
/// fro, so that at a turn one of the operands' blocks stays the same.
std::vector<MinimalStep> steps_of(const MinimalSplit& split,
                                  const MinimalMatmulAttributes& attributes,
                                  const TileTimes& times) {
  const auto in_m = blocks_of(split.per_core_m, attributes.block_m);
  const auto in_n = blocks_of(split.per_core_n, attributes.block_n);
  const auto in_k = blocks_of(split.k, attributes.block_k);
  std::vector<MinimalStep> steps;
  for (std::size_t i = 0; i < in_m.size(); ++i) {
    for (std::size_t j = 0; j < in_n.size(); ++j) {
      const std::int64_t n = i % 2 == 0 ? in_n[j] : in_n[in_n.size() - 1 - j];
      const bool forward = (i * in_n.size() + j) % 2 == 0;
      for (std::size_t l = 0; l < in_k.size(); ++l) {
        const std::int64_t k = forward ? in_k[l] : in_k[in_k.size() - 1 - l];
        const bool turn = l == 0 && !steps.empty();
        const bool keeps_in0 = turn && j > 0;
        const bool keeps_in1 = turn && j == 0;
        steps.push_back(
            {.in0_tiles = keeps_in0 ? 0 : in_m[i] * k,
             .in1_tiles = keeps_in1 ? 0 : k * n,
             .compute = in_m[i] * k * n * times.product + in_m[i] * n * times.partial_sum});
      }
      steps.back().compute += in_m[i] * n * times.copy;
    }
  }
  return steps;
}

/// Says what a line of cores needs to hand blocks on.
struct ChainCosts {
  std::int64_t cores = 1;
  SimTime latency;    ///< A read of DRAM, in addition to its tiles.
  SimTime read;       ///< The read of a tile by the first core.
  SimTime forward;    ///< A tile's way from one core to the next.
  SimTime handshake;  ///< Before each block that is handed on.
};

/// Returns when the last core of a line has each block. A core receives a block, gives it to
/// compute and hands it on, one after the other; it has room for two blocks.
std::vector<SimTime> arrivals(const ChainCosts& chain, const std::vector<MinimalStep>& steps,
                              std::int64_t MinimalStep::*tiles) {
  const auto cores = static_cast<std::size_t>(chain.cores);
  struct Core {
    SimTime handed_on, received;
    SimTime computed, computed_before;
  };
  std::vector<Core> line(cores);
  std::vector<SimTime> at_the_end;
  for (const MinimalStep& step : steps) {
    const std::int64_t count = step.*tiles;
    for (std::size_t i = 0; i < cores; ++i) {
      Core& core = line[i];
      const SimTime room = std::max(core.handed_on, core.computed_before);
      if (count > 0 && i == 0) {
        core.received = room + chain.latency + count * chain.read;
      } else if (count > 0) {
        Core& before = line[i - 1];
        before.handed_on =
            std::max(before.received, room) + chain.handshake + count * chain.forward;
        core.received = before.handed_on;
      }
      if (i + 1 == cores) core.handed_on = core.received;
      core.computed_before = core.computed;
      core.computed = std::max(core.computed, core.received) + step.compute;
    }
    at_the_end.push_back(line.back().received);
  }
  return at_the_end;
}

/// The size of a tile of each operand and of the result.
struct MinimalTiles {
  Bytes in0, in1, out;
};

KernelCost minimal_cost(const MinimalSplit& split, const std::vector<MinimalStep>& steps,
                        const MinimalTiles& tiles, const Profiles& profiles) {
  const ChipProfile& chip = profiles.chip;
  const SoftwareProfile& software = profiles.software;
  const auto chain = [&](std::int64_t cores, std::int64_t readers, Bytes tile, Bandwidth dram) {
    return ChainCosts{
        .cores = cores,
        .latency = chip.noc_read_latency,
        .read = std::max(page_time(tile, profiles), transfer_time(readers * tile, dram)),
        .forward = transfer_time(tile, chip.noc_link),
        .handshake = software.minimal_matmul_handshake};
  };
  // The operand of more tiles is read on NoC 0. A goes along N's cores, with one line for each of
  // M's.
  const bool in0_larger = split.m * split.k > split.k * split.n;
  const auto dram = [&](bool larger) { return larger ? chip.dram_read_noc0 : chip.dram_read_noc1; };
  const auto in0 = arrivals(chain(split.n_cores, split.m_cores, tiles.in0, dram(in0_larger)), steps,
                            &MinimalStep::in0_tiles);
  const auto in1 = arrivals(chain(split.m_cores, split.n_cores, tiles.in1, dram(!in0_larger)),
                            steps, &MinimalStep::in1_tiles);
  KernelCost kernel{.grid = split.grid, .cores = split.grid.cores()};
  const SimTime start = software.matmul_start;
  SimTime computed;
  SimTime in0_waits;
  SimTime in1_waits;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const SimTime ready = std::max({computed, in0[i], in1[i]});
    if (i == 0) kernel.compute_start = start + ready;
    (in0[i] > in1[i] ? in0_waits : in1_waits) += ready - computed;
    computed = ready + steps[i].compute;
    kernel.dram += split.m_cores * steps[i].in0_tiles * tiles.in0;
    kernel.dram += split.n_cores * steps[i].in1_tiles * tiles.in1;
  }
  kernel.reads_end = start + std::max(in0.back(), in1.back());
  kernel.math_end = start + computed;
  kernel.first_write = kernel.math_end;
  kernel.bottleneck = computed - in0_waits - in1_waits > in0_waits + in1_waits ? Bottleneck::math
                      : in0_waits > in1_waits ? Bottleneck::in0_reads
                                              : Bottleneck::in1_reads;
  return kernel;
}

}  // namespace

PlannedProgram plan(const MinimalMatmulAttributes& attributes, const Program& program,
                    CoreGrid device_grid, const Profiles& profiles) {
  const CoreGrid grid = attributes.core_grid.value_or(device_grid);
  if (grid.columns < 2 || grid.rows < 2) {
    throw Error({.attempted = "multiply by minimal_matmul",
                 .value = fmt::format("on a grid of {}x{} cores", grid.columns, grid.rows),
                 .accepted = "2x2 cores or more"});
  }
  const MinimalSplit split = split_minimal(program, grid);
  const auto blocks = [](std::int64_t tiles, std::int64_t block) { return ceil_div(tiles, block); };
  constexpr std::int64_t kMostBlocks = 1 << 20;
  const std::int64_t m = blocks(split.per_core_m, attributes.block_m);
  const std::int64_t n = blocks(split.per_core_n, attributes.block_n);
  const std::int64_t k = blocks(split.k, attributes.block_k);
  if (m > kMostBlocks || n > kMostBlocks || k > kMostBlocks || m * n > kMostBlocks / k) {
    throw Error({.attempted = "multiply by minimal_matmul",
                 .value = fmt::format("{} x {} x {} blocks a core", m, n, k),
                 .accepted = "1048576 blocks a core at the most",
                 .hint = "larger blocks"});
  }
  const ChipProfile& chip = profiles.chip;
  const MatmulTypes types = types_of(program);
  const MinimalTiles tiles{tile_bytes(types.a), tile_bytes(types.b), tile_bytes(types.out)};
  const SimTime unpack =
      unpack_time({std::min(attributes.subblock_h, split.per_core_m),
                   std::min(attributes.subblock_w, split.per_core_n), tiles.in0, tiles.in1},
                  chip);
  const auto phases =
      static_cast<std::int64_t>(attributes.compute.fidelity.value_or(MathFidelity::hifi2));
  const SimTime math = chip.tile_pass() * phases + profiles.software.matmul_tile_product;
  const bool biased = program.inputs.size() > 2;
  const TileTimes times{
      .product = std::max(math, unpack),
      .partial_sum = profiles.software.matmul_output_tile,
      .copy = transfer_time(tiles.out + (biased ? tile_bytes(types.bias) : Bytes()), chip.unpack) +
              (attributes.activation
                   ? fused_math_time(attributes.activation->function, profiles.software.tiles)
                   : SimTime())};
  KernelCost kernel = minimal_cost(split, steps_of(split, attributes, times), tiles, profiles);
  if (kernel.bottleneck == Bottleneck::math && unpack > math) {
    kernel.bottleneck = Bottleneck::unpack;
  }
  // Tiles go out as they are copied; only the last one is left.
  kernel.total = kernel.math_end + chip.noc_write_latency + transfer_time(tiles.out, chip.noc_link);
  kernel.dram += split.m * split.n * tiles.out;
  constexpr int kCircularBuffers = 5;
  // The groups are the injectors of either operand, of both, and the other cores.
  constexpr int kKernelGroups = 4;
  return planned({.cores = grid.cores(), .kernel_groups = kKernelGroups},
                 {profiles.software.ttnn_matmul_arguments, kCircularBuffers}, kernel,
                 profiles.software);
}

}  // namespace howard::chip
