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
#include "reports/findings/op_groups.h"
#include "reports/tables/format.h"
#include "reports/tables/row_columns.h"

namespace howard::reports {
namespace {

using profiler::BusyLane;
using profiler::CauseTimes;
using profiler::Gap;
using profiler::GapCause;
using profiler::LaneKind;

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
    add_times(table, fmt::format("device {}", device),
              each(present, [&of = causes](GapCause cause) { return of[cause]; }));
  }
  if (by_device.size() > kMostDevices) {
    table.notes.push_back(
        fmt::format("of {} devices, the first {} have a column", by_device.size(), kMostDevices));
  }
}

}  // namespace

Table causes_table(std::span<const BusyLane> lanes) {
  const CauseTimes causes = profiler::time_by_cause(lanes);
  const std::vector<GapCause> present = causes_present(causes);
  Table table{.caption = "idle time by cause"};
  const RowColumns columns(table, present);
  columns.words("cause", [](GapCause cause) { return profiler::name_of(cause); });
  columns.quantities("idle", "s", [&](GapCause cause) { return causes[cause]; });
  columns.quantities("share", "1",
                     [&](GapCause cause) { return share(causes[cause], causes.total()); });
  add_causes_by_device(lanes, table);
  return table;
}

Table op_pairs_table(const profiler::Timeline& timeline, std::span<const BusyLane> lanes,
                     std::size_t most) {
  const std::vector<profiler::OpPairGaps> pairs = profiler::gaps_by_ops(timeline, lanes);
  struct Row {
    std::string before, after;
    profiler::OpPairGaps pair;
  };
  std::vector<Row> rows;
  profiler::OpPairGaps rest;
  SimTime all;
  for (const profiler::OpPairGaps& pair : pairs) {
    all += pair.idle;
    if (rows.size() < most) {
      rows.push_back({std::string(brief_name(timeline.names.name(pair.before))),
                      std::string(brief_name(timeline.names.name(pair.after))), pair});
      continue;
    }
    rest.count += pair.count;
    rest.idle += pair.idle;
    rest.causes += pair.causes;
  }
  if (rest.count > 0) {
    rows.push_back({fmt::format("other pairs: {}", pairs.size() - most), "", rest});
  }
  Table table{.caption = "idle time by the op before and the op after"};
  const RowColumns columns(table, rows);
  columns.words("before", &Row::before);
  columns.keys("after", &Row::after);
  columns.counts("gaps", [](const Row& row) { return row.pair.count; });
  columns.quantities("idle", "s", [](const Row& row) { return row.pair.idle; });
  columns.quantities("share", "1", [&](const Row& row) { return share(row.pair.idle, all); });
  columns.quantities("mean gap", "s", [](const Row& row) {
    return row.pair.idle.seconds() / static_cast<double>(row.pair.count);
  });
  columns.words("mostly", [](const Row& row) { return largest_cause(row.pair.causes); });
  return table;
}

Table gap_lengths_table(std::span<const BusyLane> lanes) {
  std::vector<profiler::GapBin> bins = profiler::gap_histogram(lanes);
  std::erase_if(bins, [](const profiler::GapBin& bin) { return bin.count == 0; });
  SimTime all;
  for (const profiler::GapBin& bin : bins) all += bin.idle;
  Table table{.caption = "gaps by length"};
  const RowColumns columns(table, bins);
  columns.words("length", [](const profiler::GapBin& bin) {
    return fmt::format("{} to {}", bound_name(bin.low), bound_name(bin.high));
  });
  columns.counts("gaps", &profiler::GapBin::count);
  columns.quantities("idle", "s", &profiler::GapBin::idle);
  columns.quantities("share", "1",
                     [&](const profiler::GapBin& bin) { return share(bin.idle, all); });
  return table;
}

}  // namespace howard::reports
