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

/// Returns the cause with the most time and its share: "host issuing 63 %"; empty if there is no
/// time.
std::string largest_cause(const CauseTimes& causes) {
  const std::vector<GapCause> present = causes_present(causes);
  if (present.empty()) return "";
  return fmt::format("{} {:.0f} %", name_of(present.front()),
                     100 * causes[present.front()].seconds() / causes.total().seconds());
}

/// Adds a column for each of the first few devices, where lanes are of several.
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
    if (bin.count == 0) continue;
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

}  // namespace howard::reports
