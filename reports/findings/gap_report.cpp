// SPDX-License-Identifier: Apache-2.0
#include "reports/findings/gap_report.h"

#include <fmt/format.h>
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "reports/findings/gap_names.h"
#include "reports/tables/columns.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

using profiler::BusyLane;
using profiler::CauseTimes;
using profiler::Gap;
using profiler::GapCause;
using profiler::LaneKind;
using Numbers = std::vector<std::optional<double>>;
using Counts = std::vector<std::optional<std::uint64_t>>;

/// The cause with the most time and its share: "host issuing 63 %"; empty without any time.
std::string largest_cause(const CauseTimes& causes) {
  const std::vector<GapCause> present = causes_present(causes);
  if (present.empty()) return "";
  return fmt::format("{} {:.0f} %", name_of(present.front()),
                     100 * causes[present.front()].seconds() / causes.total().seconds());
}

/// Where lanes are of several devices, a column for each of the first few.
void add_causes_by_device(std::span<const BusyLane> lanes, Table& table) {
  constexpr std::size_t kMostDevices = 8;
  std::map<std::uint16_t, CauseTimes> by_device;
  for (const BusyLane& lane : lanes) by_device[lane.device] += lane.causes;
  if (by_device.size() < 2) return;
  const std::vector<GapCause> present = causes_present(profiler::time_by_cause(lanes));
  std::size_t shown = 0;
  for (const auto& [device, causes] : by_device) {
    if (++shown > kMostDevices) break;
    Numbers times;
    for (const GapCause cause : present) times.emplace_back(causes[cause].seconds());
    add_quantities(table, fmt::format("device {}", device), "s", times);
  }
  if (by_device.size() > kMostDevices) {
    table.notes.push_back(
        fmt::format("of {} devices, the first {} have a column", by_device.size(), kMostDevices));
  }
}

}  // namespace

Table lanes_table(const profiler::Timeline& timeline, std::span<const BusyLane> lanes,
                  LaneKind kind) {
  std::vector<std::string> names;
  std::vector<std::string> mostly;
  Counts programs, gaps;
  Numbers span, busy, idle, idle_share, mean, longest;
  for (const BusyLane& lane : lanes) {
    names.push_back(lane_name(lanes, lane, kind));
    mostly.push_back(largest_cause(lane.causes));
    programs.emplace_back(lane.programs);
    span.emplace_back(lane.span.duration().seconds());
    busy.emplace_back(lane.busy.seconds());
    idle.emplace_back(lane.idle.seconds());
    idle_share.push_back(share(lane.idle, lane.span.duration()));
    gaps.emplace_back(lane.gaps.size());
    SimTime most;
    for (const Gap& gap : lane.gaps) most = std::max(most, gap.span.duration());
    const bool any = !lane.gaps.empty();
    mean.push_back(any ? std::optional(lane.idle.seconds() / static_cast<double>(lane.gaps.size()))
                       : std::nullopt);
    longest.push_back(any ? std::optional(most.seconds()) : std::nullopt);
  }
  Table table{.caption = "busy and idle time"};
  add_words(table, kind == LaneKind::queue ? "queue" : "cores", names);
  add_counts(table, "programs", programs);
  add_quantities(table, "span", "s", span);
  add_quantities(table, "busy", "s", busy);
  add_quantities(table, "idle", "s", idle);
  add_quantities(table, "idle share", "1", idle_share);
  add_counts(table, "gaps", gaps);
  add_quantities(table, "mean gap", "s", mean);
  add_quantities(table, "longest gap", "s", longest);
  add_words(table, "mostly", mostly);
  if (timeline.losses > 0) {
    table.notes.push_back(fmt::format(
        "warning: events missing: {} (lost in recording or dropped in reading)", timeline.losses));
  }
  return table;
}

Table causes_table(std::span<const BusyLane> lanes) {
  const CauseTimes causes = profiler::time_by_cause(lanes);
  std::vector<std::string> names;
  Numbers times, shares;
  for (const GapCause cause : causes_present(causes)) {
    names.emplace_back(name_of(cause));
    times.emplace_back(causes[cause].seconds());
    shares.push_back(share(causes[cause], causes.total()));
  }
  Table table{.caption = "idle time by cause"};
  add_words(table, "cause", names);
  add_quantities(table, "idle", "s", times);
  add_quantities(table, "share", "1", shares);
  add_causes_by_device(lanes, table);
  return table;
}

Table op_pairs_table(const profiler::Timeline& timeline, std::span<const BusyLane> lanes,
                     std::size_t most) {
  const std::vector<profiler::OpPairGaps> pairs = profiler::gaps_by_ops(timeline, lanes);
  std::vector<std::string> before, after, mostly;
  Counts count;
  Numbers idle, mean, shares;
  SimTime all;
  for (const profiler::OpPairGaps& pair : pairs) all += pair.idle;
  const auto add = [&](std::string first, std::string second, const profiler::OpPairGaps& pair) {
    before.push_back(std::move(first));
    after.push_back(std::move(second));
    count.emplace_back(pair.count);
    idle.emplace_back(pair.idle.seconds());
    mean.emplace_back(pair.idle.seconds() / static_cast<double>(pair.count));
    shares.push_back(share(pair.idle, all));
    mostly.push_back(largest_cause(pair.causes));
  };
  profiler::OpPairGaps rest;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const profiler::OpPairGaps& pair = pairs[i];
    if (i < most) {
      add(std::string(timeline.names.name(pair.before)),
          std::string(timeline.names.name(pair.after)), pair);
    } else {
      rest.count += pair.count;
      rest.idle += pair.idle;
      rest.causes += pair.causes;
    }
  }
  if (rest.count > 0) add(fmt::format("other pairs: {}", pairs.size() - most), "", rest);
  Table table{.caption = "idle time by the op before and the op after"};
  add_words(table, "before", before);
  add_words(table, TableColumn{.title = "after", .room = harness::Room::key}, after);
  add_counts(table, "gaps", count);
  add_quantities(table, "idle", "s", idle);
  add_quantities(table, "share", "1", shares);
  add_quantities(table, "mean gap", "s", mean);
  add_words(table, "mostly", mostly);
  return table;
}

Table gap_lengths_table(std::span<const BusyLane> lanes) {
  const std::vector<profiler::GapBin> bins = profiler::gap_histogram(lanes);
  SimTime all;
  for (const profiler::GapBin& bin : bins) all += bin.idle;
  std::vector<std::string> lengths;
  Counts count;
  Numbers idle, shares;
  for (const profiler::GapBin& bin : bins) {
    lengths.push_back(fmt::format("{} to {}", bound_name(bin.low), bound_name(bin.high)));
    count.emplace_back(bin.count);
    idle.emplace_back(bin.idle.seconds());
    shares.push_back(share(bin.idle, all));
  }
  Table table{.caption = "gaps by length"};
  add_words(table, "length", lengths);
  add_counts(table, "gaps", count);
  add_quantities(table, "idle", "s", idle);
  add_quantities(table, "share", "1", shares);
  return table;
}

Table gap_definitions_table(const profiler::Timeline& timeline) {
  SimTime busy, idle, wall;
  std::uint64_t gaps = 0;
  const std::vector<BusyLane> devices = profiler::find_gaps(timeline, LaneKind::device);
  for (const BusyLane& lane : devices) {
    busy += lane.busy;
    idle += lane.idle;
    wall += lane.span.duration();
    gaps += lane.gaps.size();
  }
  const profiler::SequentialGaps report = profiler::sequential_gaps(devices);
  const profiler::OpToOp latency = profiler::op_to_op(devices);
  Table table{.caption = "idle time by three definitions"};
  add_words(table, "definition",
            {"no program runs on the device", "next start - end, none below 0 (report)",
             "next start - end (tt-metal)"});
  add_counts(table, "gaps", {gaps, report.gaps, latency.count});
  add_counts(table, "below 0", {std::nullopt, std::nullopt, latency.negative});
  add_quantities(table, "idle", "s",
                 {idle.seconds(), report.idle.seconds(), latency.total.seconds()});
  add_quantities(table, "busy", "s",
                 {busy.seconds(), report.busy.seconds(), report.busy.seconds()});
  add_quantities(table, "of idle + busy", "1",
                 {share(idle, idle + busy), report.share(),
                  share(latency.total, latency.total + report.busy)});
  add_quantities(table, "of the span", "1",
                 {share(idle, wall), share(report.idle, wall), share(latency.total, wall)});
  add_quantities(
      table, "of busy", "1",
      {share(idle, busy), share(report.idle, report.busy), share(latency.total, report.busy)});
  table.notes.push_back(
      "the report and tt-metal order all programs of a device by start: where programs run side by "
      "side, the report counts their time twice and tt-metal subtracts it from the gaps");
  return table;
}

}  // namespace howard::reports
