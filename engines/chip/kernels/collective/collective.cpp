// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/collective/collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "engines/chip/kernels/plan/plans.h"
#include "engines/chip/kernels/plan/work_split.h"

namespace howard::chip {
namespace {

/// A worker tells the next chip of what has come once in so many packets, unless the call says
/// otherwise. The rates of links in the profile have this in them.
constexpr std::int64_t kPacketsAnnounced = 160;

/// Returns what a link has of a chip's share of the whole tensor.
Bytes link_share(const ChipLine& line) {
  return Bytes(ceil_div(ceil_div(line.whole.value(), line.chips), line.use.links));
}

/// Returns what passes the busiest link in its busiest direction: the shares of all chips but one.
/// On a ring half of them come from either side.
Bytes busiest_bytes(const ChipLine& line) {
  const std::int64_t bytes = (line.chips - 1) * link_share(line).value();
  return Bytes(line.use.ring ? ceil_div(bytes, 2) : bytes);
}

/// Returns how many cores move data in one direction of a link. If the call does not say, ttnn
/// chooses the number by the bytes that pass the link (tt-metal's all_gather_async and
/// reduce_scatter_minimal_async).
int link_workers(bool gathers, const ChipLine& line) {
  if (line.use.workers > 0) return line.use.workers;
  const std::int64_t bytes = busiest_bytes(line).value();
  constexpr std::int64_t kKib = 1024;
  if (gathers) return bytes > 256 * kKib ? 4 : bytes > 4 * kKib ? 2 : 1;
  if (line.use.ring) {
    constexpr std::int64_t kMega = 1'000'000;
    return bytes > 50 * kMega ? 8 : bytes >= kMega ? 4 : bytes > 4 * kKib ? 2 : 1;
  }
  if (bytes > 4096 * kKib) return 8;
  return bytes >= 512 * kKib ? 4 : bytes > 4 * kKib ? 2 : 1;
}

int link_cores(bool gathers, const ChipLine& line) {
  constexpr int kDirections = 2;
  const int movers = link_workers(gathers, line);
  // Several workers of one direction share the link through one more core.
  return line.use.links * kDirections * (movers + (movers > 1 ? 1 : 0));
}

/// Returns how long `bytes` take through one link in one direction, as the slowest of three lets
/// them: the wire, the router, which takes as long for a small packet as for a larger one, and the
/// workers, each of which reads a packet before it hands it on.
SimTime link_time(const CollectiveCosts& costs, const ChipLine& line, int workers, Bandwidth wire,
                  Bytes bytes) {
  if (bytes == Bytes()) return {};
  const SimTime routed = line.use.ring ? costs.ring_packet : costs.packet;
  const SimTime passed = std::max(routed, transfer_time(line.packet, wire));
  // A worker alone gives its packets to the router itself. Several share a core that does so while
  // they read, if it has room for more than one packet of each, which calls must ask for.
  const bool waits = workers == 1 || line.use.buffers <= 1;
  const SimTime worked = costs.worker_packet + (waits ? passed : SimTime());
  const std::int64_t packets = ceil_div(bytes.value(), line.packet.value());
  // To read the first packet is a part of the start.
  const SimTime time = std::max(
      {transfer_time(bytes, wire), packets * routed, (ceil_div(packets, workers) - 1) * worked});
  if (line.use.chunk == 0) return time;
  // An announcement is a packet too.
  const std::int64_t more = packets / line.use.chunk - packets / kPacketsAnnounced;
  return time + std::max<std::int64_t>(more, 0) * routed;
}

}  // namespace

SimTime all_gather_time(const CollectiveCosts& costs, const ChipLine& line) {
  const int workers = link_workers(true, line);
  const auto over_link = [&](Bytes bytes) {
    return link_time(costs, line, workers, costs.gather_link, bytes);
  };
  const SimTime busiest = over_link(busiest_bytes(line));
  const SimTime start = line.is_prepared ? costs.shards_start : costs.gather_start;
  // On a ring the farthest share goes half of the way, and half of it from either side: it is there
  // with the last that the busiest link passes.
  if (line.use.ring) return start + line.chips / 2 * costs.gather_step + busiest;
  // On a line the last part of the first chip's share leaves late, as the workers of its only
  // direction copy the share to its own result as well, and then goes from chip to chip. A smaller
  // share than a worker announces at once is announced whole.
  const Bytes share = link_share(line);
  const std::int64_t chunk = line.use.chunk > 0 ? line.use.chunk : kPacketsAnnounced;
  const Bytes announced = std::min(share, workers * chunk * line.packet);
  const SimTime farthest = over_link(share) + transfer_time(share, costs.gather_copy) +
                           (line.chips - 2) * over_link(announced);
  return start + line.hops * costs.gather_step + std::max(busiest, farthest);
}

SimTime reduce_scatter_time(const CollectiveCosts& costs, const ChipLine& line) {
  // A share after the other passes the busiest link; what comes is added to what is there while the
  // next one passes. Nothing hides reading, adding and writing the last one. On a ring, half of
  // each share goes all the way round in either direction; in later versions a whole one goes half
  // the way.
  const auto over_link = [&](const ChipLine& part) {
    return link_time(costs, part, link_workers(false, line), costs.scatter_link,
                     busiest_bytes(part)) +
           transfer_time(link_share(part), costs.scatter_add);
  };
  if (!line.use.ring) {
    return costs.scatter_start + line.hops * costs.scatter_step + over_link(line);
  }
  // A chip of a ring begins a step when the one before it has ended its own, so no batch begins
  // before the last one has been all the way.
  const int steps = costs.scatter_half_ring ? line.chips / 2 : line.chips - 1;
  ChipLine batch = line;
  batch.whole = Bytes(ceil_div(line.whole.value(), line.passes));
  return costs.scatter_ring_start +
         line.passes * (steps * costs.scatter_ring_step + over_link(batch));
}

SimTime all_to_all_time(const CollectiveCosts& costs, const ChipLine& line, Bytes each) {
  // Between the halves of a line all of one half passes that is meant for the other one. On a ring
  // it goes the shorter way, which is a quarter of the ring on average.
  const std::int64_t n = line.chips;
  const std::int64_t times = line.use.ring ? ceil_div(n * n, 8) : (n / 2) * ceil_div(n, 2);
  const Bytes busiest(ceil_div(times * each.value(), line.use.links));
  const SimTime start =
      costs.exchange_start + (line.use.ring ? line.chips / 2 : line.hops) * costs.exchange_step;
  // Senders read a token once for all chips that it goes to.
  const std::int64_t packets = ceil_div(busiest.value(), line.packet.value());
  return start + std::max(transfer_time(busiest, costs.gather_link),
                          packets * (line.use.ring ? costs.ring_packet : costs.packet));
}

Footprint collective_footprint(bool gathers, const ChipLine& line, const Profiles& profiles) {
  constexpr int kCircularBuffers = 4;
  return op_footprint(link_cores(gathers, line), 1, profiles.software.ttnn_other_arguments,
                      kCircularBuffers, profiles.software);
}

namespace {

/// Returns what a packet carries of such a tensor: two pages if they fit.
Bytes packet_of(const TensorSpec& spec) {
  const Bytes page =
      spec.layout == Layout::tile
          ? tile_bytes(spec.dtype)
          : Bytes(spec.host_bytes().value() * spec.shape.dimensions()[3] / spec.shape.elements());
  return std::min(kLinkPacket, 2 * page);
}

/// When data begins to pass on the links, and when all of it has.
struct Transfer {
  SimTime start, end;
};

PlannedProgram plan_of_transfer(const Program& program, bool gathers, const ChipLine& line,
                                const Transfer& transfer, CoreGrid grid, const Profiles& profiles) {
  const auto [start, end] = transfer;
  const Footprint footprint = collective_footprint(gathers, line, profiles);
  return {.footprint = footprint,
          .kernel = {.compute_start = start,
                     .reads_end = end,
                     .first_write = start,
                     .math_end = end,
                     .total = end,
                     .unshared = end,
                     .dram = program.inputs[0].spec.padded_bytes() +
                             program.outputs[0].spec.padded_bytes(),
                     .grid = grid,
                     .cores = std::min(footprint.cores, grid.cores()),
                     .bottleneck = Bottleneck::output_writes}};
}

PlannedProgram plan_collective(const Program& program, bool gathers, const LinkUse& use,
                               CoreGrid grid, const Profiles& profiles) {
  const ChipLine line = line_of(program, gathers, use);
  const auto time_of = [&](Bytes whole) {
    const CollectiveCosts& costs = profiles.software.collectives;
    ChipLine other = line;
    other.whole = whole;
    return gathers ? all_gather_time(costs, other) : reduce_scatter_time(costs, other);
  };
  const SimTime total = time_of(line.whole);
  const SimTime start = time_of(Bytes());
  return plan_of_transfer(program, gathers, line, {start, total}, grid, profiles);
}

}  // namespace

ChipLine line_of(const Program& program, bool gathers, const LinkUse& use) {
  const TensorSpec& in = program.inputs[0].spec;
  const TensorSpec& out = program.outputs[0].spec;
  const TensorSpec& whole = gathers ? out : in;
  const TensorSpec& part = gathers ? in : out;
  const int chips = static_cast<int>(whole.shape.elements() / part.shape.elements());
  ChipLine line{.chips = chips,
                .hops = chips - 1,
                .whole = whole.padded_bytes(),
                .use = use,
                .packet = packet_of(whole),
                .passes = gathers ? 1 : whole.shape.dimensions()[0],
                .is_prepared = in.sharding && out.sharding && in.storage == Storage::l1 &&
                               out.storage == Storage::l1};
  line.use.ring = use.ring && chips > 2;  // Two chips have no other way round.
  return line;
}

namespace {

/// What a chip of a group sends to each of the others: rows of the tokens' width, on average.
struct Sent {
  int chips = 1;
  double rows = 0;  ///< For one other chip.
};

std::int64_t rows_of(const TensorSpec& spec) {
  return spec.shape.elements() / spec.shape.columns();
}

/// Returns how many of `tokens` choose at least one expert of a certain device. Each token chooses
/// `chosen` experts, which are equally popular, and each of `devices` has as many of them.
double tokens_for_one(std::int64_t tokens, std::int64_t chosen, std::int64_t devices) {
  const double other = 1 - 1 / static_cast<double>(devices);
  double none = 1;
  for (std::int64_t i = 0; i < chosen; ++i) none *= other;
  return static_cast<double>(tokens) * (1 - none);
}

PlannedProgram plan_exchange(const Program& program, const Sent& sent, LinkUse use, CoreGrid grid,
                             const Profiles& profiles) {
  const TensorSpec& in = program.inputs[0].spec;
  const Bytes row(in.host_bytes().value() / rows_of(in));
  if (use.workers == 0) use.workers = 1;
  use.ring = use.ring && sent.chips > 2;
  const ChipLine line{.chips = sent.chips,
                      .hops = sent.chips - 1,
                      .whole = program.outputs[0].spec.padded_bytes(),
                      .use = use,
                      .packet = std::min(kLinkPacket, row)};
  const CollectiveCosts& costs = profiles.software.collectives;
  const SimTime start = all_to_all_time(costs, line, Bytes());
  const double each = sent.rows * static_cast<double>(row.value());
  const SimTime total =
      all_to_all_time(costs, line, Bytes(static_cast<std::int64_t>(std::ceil(each))));
  return plan_of_transfer(program, true, line, {start, total}, grid, profiles);
}

}  // namespace

PlannedProgram plan(const AllToAllDispatchAttributes& attributes, const Program& program,
                    CoreGrid grid, const Profiles& profiles) {
  const std::int64_t own = rows_of(program.inputs[0].spec);
  const Sent sent{.chips = static_cast<int>(rows_of(program.outputs[0].spec) / own),
                  .rows = tokens_for_one(own, program.inputs[2].spec.shape.columns(),
                                         program.inputs[3].spec.shape.columns())};
  return plan_exchange(program, sent, attributes.use, grid, profiles);
}

PlannedProgram plan(const AllToAllCombineAttributes& attributes, const Program& program,
                    CoreGrid grid, const Profiles& profiles) {
  const Shape& chosen = program.inputs[2].spec.shape;
  const std::int64_t back = rows_of(program.outputs[0].spec);  // A row for each choice.
  const Sent sent{.chips = static_cast<int>(chosen.elements() / back),
                  .rows = static_cast<double>(back) /
                          static_cast<double>(program.inputs[3].spec.shape.columns())};
  return plan_exchange(program, sent, attributes.use, grid, profiles);
}

PlannedProgram plan(const AllGatherAttributes& attributes, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  return plan_collective(program, true, attributes.use, grid, profiles);
}

PlannedProgram plan(const ReduceScatterAttributes& attributes, const Program& program,
                    CoreGrid grid, const Profiles& profiles) {
  return plan_collective(program, false, attributes.use, grid, profiles);
}

namespace {

[[noreturn]] void refuse_transfer(const Program& program) {
  throw Error({.attempted = fmt::format("plan {}", program.name),
               .value = "a transfer on one chip",
               .accepted = "transfers between the chips of a mesh"});
}

}  // namespace

PlannedProgram plan(const SendAttributes&, const Program& program, CoreGrid, const Profiles&) {
  refuse_transfer(program);
}

PlannedProgram plan(const ReceiveAttributes&, const Program& program, CoreGrid, const Profiles&) {
  refuse_transfer(program);
}

}  // namespace howard::chip
