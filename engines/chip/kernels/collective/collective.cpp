// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/collective/collective.h"

#include <algorithm>

#include "engines/chip/kernels/plan/work_split.h"

namespace howard::chip {
namespace {

/// Returns a chip's share of the whole tensor.
Bytes chip_share(const ChipLine& line) { return Bytes(ceil_div(line.whole.value(), line.chips)); }

/// Returns how many cores move data in one direction of a link. ttnn chooses the number by the
/// bytes that pass the link (tt-metal's all_gather_async and reduce_scatter_minimal_async on a
/// line).
int link_workers(bool gathers, const ChipLine& line) {
  const std::int64_t bytes = (line.chips - 1) * chip_share(line).value();
  constexpr std::int64_t kKib = 1024;
  if (gathers) return bytes > 256 * kKib ? 4 : bytes > 4 * kKib ? 2 : 1;
  if (bytes > 4096 * kKib) return 8;
  return bytes >= 512 * kKib ? 4 : bytes > 4 * kKib ? 2 : 1;
}

int link_cores(bool gathers, const ChipLine& line) {
  constexpr int kDirections = 2;
  const int movers = link_workers(gathers, line);
  // Several workers of one direction share the link through one more core.
  return kDirections * (movers + (movers > 1 ? 1 : 0));
}

}  // namespace

SimTime all_gather_time(const CollectiveCosts& costs, const ChipLine& line) {
  const Bytes share = chip_share(line);
  // A worker tells the next chip of what has come once in 160 packets, or once for a smaller share.
  constexpr std::int64_t kPacketsAnnounced = 160;
  const Bytes announced =
      std::min(share, link_workers(true, line) * kPacketsAnnounced * kLinkPacket);
  const auto over_link = [&](Bytes bytes) { return transfer_time(bytes, costs.gather_link); };
  // The busiest link passes the shares of all chips but one. The last part of the first chip's
  // share leaves late, as the workers of its only direction copy the share to its own result as
  // well, and then goes from chip to chip.
  const SimTime busiest = over_link((line.chips - 1) * share);
  const SimTime farthest = over_link(share) + transfer_time(share, costs.gather_copy) +
                           (line.chips - 2) * over_link(announced);
  return costs.gather_start + line.hops * costs.gather_step + std::max(busiest, farthest);
}

SimTime reduce_scatter_time(const CollectiveCosts& costs, const ChipLine& line) {
  // A share after the other passes the busiest link; what comes is added to what is there while the
  // next one passes. Nothing hides reading, adding and writing the last one.
  const Bytes share = chip_share(line);
  return costs.scatter_start + line.hops * costs.scatter_step +
         transfer_time((line.chips - 1) * share, costs.scatter_link) +
         transfer_time(share, costs.scatter_add);
}

Footprint collective_footprint(bool gathers, const ChipLine& line, const Profiles& profiles) {
  constexpr int kCircularBuffers = 4;
  return op_footprint(link_cores(gathers, line), 1, profiles.software.ttnn_other_arguments,
                      kCircularBuffers, profiles.software);
}

namespace {

/// Plans an all_gather or a reduce_scatter; how many chips there are follows from the tensors.
PlannedProgram plan_collective(const Program& program, bool gathers, CoreGrid grid,
                               const Profiles& profiles) {
  const TensorSpec& in = program.inputs[0].spec;
  const TensorSpec& out = program.outputs[0].spec;
  const TensorSpec& whole_of_all = gathers ? out : in;
  const TensorSpec& part = gathers ? in : out;
  const int chips = static_cast<int>(whole_of_all.shape.elements() / part.shape.elements());
  const ChipLine line{chips, chips - 1, whole_of_all.padded_bytes()};
  const auto time_of = [&](Bytes whole) {
    const CollectiveCosts& costs = profiles.software.collectives;
    const ChipLine other{line.chips, line.hops, whole};
    return gathers ? all_gather_time(costs, other) : reduce_scatter_time(costs, other);
  };
  const SimTime total = time_of(line.whole);
  const SimTime start = time_of(Bytes());
  const Footprint footprint = collective_footprint(gathers, line, profiles);
  return {.name = program.name,
          .footprint = footprint,
          .kernel = {.compute_start = start,
                     .reads_end = total,
                     .first_write = start,
                     .math_end = total,
                     .total = total,
                     .unshared = total,
                     .dram = in.padded_bytes() + out.padded_bytes(),
                     .grid = grid,
                     .cores = std::min(footprint.cores, grid.cores()),
                     .bottleneck = Bottleneck::output_writes}};
}

}  // namespace

PlannedProgram plan_all_gather(const Program& program, CoreGrid grid, const Profiles& profiles) {
  return plan_collective(program, true, grid, profiles);
}

PlannedProgram plan_reduce_scatter(const Program& program, CoreGrid grid,
                                   const Profiles& profiles) {
  return plan_collective(program, false, grid, profiles);
}

}  // namespace howard::chip
