// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engines/chip/kernels/convolution/convolution.h"
#include "engines/chip/kernels/pipeline/pages.h"
#include "engines/chip/kernels/pipeline/tile_pipeline.h"
#include "engines/chip/kernels/plan/plans.h"

namespace howard::chip {
namespace {

constexpr int kWindowBuffers = 6;
/// Two RISCs of a core move data, and share its sticks.
constexpr std::int64_t kMovers = 2;

/// The cores among which places are dealt out, and what the busiest has.
struct Places {
  int cores = 1;
  std::int64_t own = 1;
};

Places dealt(std::int64_t places, std::int64_t cores, std::int64_t channel_cores, CoreGrid grid) {
  const std::int64_t most =
      cores > 0 ? cores : std::max<std::int64_t>(1, grid.cores() / channel_cores);
  const std::int64_t taken = std::min(places, most);
  return {static_cast<int>(taken * channel_cores), ceil_div(places, taken)};
}

/// Returns a kernel on shards whose cores take that long each, after their start.
PlannedProgram plan_on_shards(int cores, SimTime work, Bottleneck bottleneck, CoreGrid grid,
                              const Profiles& profiles) {
  KernelCost kernel{.grid = grid, .cores = cores, .bottleneck = bottleneck};
  kernel.compute_start = kernel.first_write = profiles.software.tiles.start;
  kernel.total = profiles.software.tiles.start + work;
  kernel.reads_end = kernel.math_end = kernel.unshared = kernel.total;
  return planned({.cores = cores}, {profiles.software.ttnn_other_arguments, kWindowBuffers}, kernel,
                 profiles.software);
}

SimTime shared_by_movers(SimTime time) { return SimTime::picoseconds(time.ps() / kMovers); }

/// Returns the time in which the math of a stop of a window reduces what it sees.
SimTime reduction_time(std::int64_t places, std::int64_t channels, const Profiles& profiles) {
  // The registers hold so many sticks at a time.
  constexpr std::int64_t kSticks = 32;
  const ConvolutionCosts& cost = profiles.software.convolution;
  return ceil_div(places, kSticks) *
         (cost.pool_stop + ceil_div(channels, kTileSide) * cost.pool_tile);
}

/// Plans a kernel whose readers bring `places` sticks for each stop, and whose math reduces them.
PlannedProgram plan_reductions(const Program& program, Places stops, std::int64_t places,
                               std::int64_t channel_cores, CoreGrid grid,
                               const Profiles& profiles) {
  const TensorSpec& x = program.inputs[0].spec;
  const SimTime read =
      shared_by_movers(places * stick_time(stick_bytes(x, channel_cores), profiles));
  const SimTime math = reduction_time(places, ceil_div(x.shape.columns(), channel_cores), profiles);
  return plan_on_shards(stops.cores, stops.own * std::max(read, math),
                        math > read ? Bottleneck::math : Bottleneck::in0_reads, grid, profiles);
}

}  // namespace

SimTime stick_time(Bytes stick, const Profiles& profiles) {
  return std::max(profiles.software.convolution.stick,
                  transfer_time(stick, profiles.chip.noc_link));
}

Bytes stick_bytes(const TensorSpec& spec, std::int64_t channel_cores) {
  return Bytes(element_bytes(spec.dtype) * ceil_div(spec.shape.columns(), channel_cores));
}

// One RISC copies the core's own sticks, row by row of the images; the other reads those of its
// neighbours and writes the padding, stick by stick. Tiles are brought into rows before.
PlannedProgram plan(const HaloAttributes& op, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const TensorSpec& x = program.inputs[0].spec;
  const Window& window = op.window;
  const Places places = dealt(window.places_in(), op.cores, op.channel_cores, grid);
  const std::int64_t cores = places.cores / op.channel_cores;
  const Bytes stick = stick_bytes(x, op.channel_cores);
  SimTime untilized;
  if (x.layout == Layout::tile) {
    const std::int64_t columns = ceil_div(x.shape.tile_columns(), op.channel_cores);
    untilized = ceil_div(places.own, kTileSide) * columns * profiles.software.convolution.tilize;
  }
  const std::int64_t rows = ceil_div(places.own, window.width);
  const SimTime own = rows * profiles.software.convolution.stick +
                      transfer_time(places.own * stick, profiles.chip.noc_link);
  const std::int64_t seen = window.dilation[0] * (window.size[0] - 1) + 1;
  std::int64_t foreign = std::max<std::int64_t>(0, seen - window.stride[0]) * window.width;
  if (cores == 1) foreign = 0;
  const auto& [top, bottom, left, right] = window.padding;
  const std::int64_t padded =
      window.images * ((window.height + top + bottom + window.beyond[0]) *
                           (window.width + left + right + window.beyond[1]) -
                       window.height * window.width);
  SimTime others = (std::min(foreign, window.places_in()) + ceil_div(padded, cores)) *
                   stick_time(stick, profiles);
  if (foreign > 0) others += profiles.chip.l1_latency;
  return plan_on_shards(
      places.cores, untilized + std::max(own, others),
      untilized > std::max(own, others) ? Bottleneck::math : Bottleneck::in0_reads, grid, profiles);
}

PlannedProgram plan(const Pool2dAttributes& op, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  return plan_reductions(program, dealt(op.window.places_out(), op.cores, op.channel_cores, grid),
                         op.window.places(), op.channel_cores, grid, profiles);
}

PlannedProgram plan(const UpsampleAttributes& op, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const TensorSpec& x = program.inputs[0].spec;
  const TensorSpec& out = program.outputs[0].spec;
  const std::int64_t from = x.shape.batch() * x.shape.rows();
  const std::int64_t copies = op.factor[0] * op.factor[1];
  const std::int64_t shards = x.sharding ? shards_of(x) : 0;
  if (op.bilinear) {
    constexpr std::int64_t kNeighbours = 4;
    return plan_reductions(program, dealt(from * copies, shards, 1, grid), kNeighbours, 1, grid,
                           profiles);
  }
  const Bytes stick = stick_bytes(x, 1);
  if (shards > 0) {
    const Places places = dealt(from, shards, 1, grid);
    const SimTime work = shared_by_movers(places.own * copies * stick_time(stick, profiles));
    return plan_on_shards(places.cores, work, Bottleneck::output_writes, grid, profiles);
  }
  return plan_steps(
      split_work(from, grid),
      {.all_steps = from,
       .read = read_latency(x, profiles.chip) + page_time(stick, profiles),
       .write = write_latency(out, profiles.chip) + copies * page_time(stick, profiles),
       .reads = in_dram(x, stick),
       .writes = in_dram(out, copies * stick)},
      grid, profiles, kWindowBuffers);
}

PlannedProgram plan(const FoldAttributes& op, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const TensorSpec& x = program.inputs[0].spec;
  const TensorSpec& out = program.outputs[0].spec;
  const std::int64_t to = out.shape.batch() * out.shape.rows();
  const Bytes stick = stick_bytes(x, 1);
  if (x.sharding) {
    // The sticks of a row of the window lie one behind the other.
    const Places places = dealt(to, shards_of(x), 1, grid);
    const SimTime work =
        shared_by_movers(places.own * op.stride[0] * stick_time(op.stride[1] * stick, profiles));
    return plan_on_shards(places.cores, work, Bottleneck::in0_reads, grid, profiles);
  }
  const std::int64_t seen = op.stride[0] * op.stride[1];
  return plan_steps(split_work(to, grid),
                    {.all_steps = to,
                     .read = read_latency(x, profiles.chip) + seen * page_time(stick, profiles),
                     .write = write_latency(out, profiles.chip) + page_time(seen * stick, profiles),
                     .reads = in_dram(x, seen * stick),
                     .writes = in_dram(out, seen * stick)},
                    grid, profiles, kWindowBuffers);
}

}  // namespace howard::chip
