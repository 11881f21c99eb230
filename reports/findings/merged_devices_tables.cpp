// SPDX-License-Identifier: Apache-2.0
#include "reports/findings/merged_devices_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "profiler/merged_devices.h"
#include "reports/tables/columns.h"
#include "reports/tables/format.h"

namespace howard::reports {

std::vector<Table> merged_devices_tables(const profiler::LoggedRun& run, std::string_view title,
                                         std::size_t top) {
  const profiler::MergedDevices merged = profiler::merge_devices(run.timeline, run.knows_starts);
  if (merged.ops.empty()) return {};
  const std::size_t shown = std::min(top, merged.ops.size());
  std::vector<std::string> names, kinds;
  std::vector<std::optional<std::uint64_t>> runs;
  std::vector<std::optional<double>> times, shares, lost, skews;
  for (const profiler::MergedOp& op : std::span(merged.ops).first(shown)) {
    names.emplace_back(run.timeline.names.name(op.name));
    kinds.emplace_back(op.collective ? "mean" : "longest");
    runs.emplace_back(op.runs);
    times.emplace_back(op.time.seconds());
    shares.emplace_back(merged.time > SimTime() ? op.time.seconds() / merged.time.seconds() : 0);
    lost.emplace_back(op.time > SimTime() ? 1 - op.shortest.seconds() / op.time.seconds() : 0);
    skews.push_back(run.knows_starts ? std::optional(op.worst_skew.seconds()) : std::nullopt);
  }
  Table table{.caption = fmt::format("{}: ops of {} devices as one", title, merged.devices),
              .columns = {},
              .rows = {},
              .notes = {}};
  add_words(table, TableColumn{.title = "op", .room = harness::Room::key}, names);
  add_counts(table, "runs", runs);
  add_quantities(table, "time", "s", times);
  add_quantities(table, "share", "1", shares);
  add_words(table, "of devices", kinds);
  add_quantities(table, "shortest is less by", "1", lost);
  add_quantities(table, "starts apart", "s", skews);
  if (shown < merged.ops.size()) {
    table.notes.push_back(counted(merged.ops.size() - shown, "more op"));
  }
  if (merged.unmatched > 0) {
    table.notes.push_back(counted(merged.unmatched, "program") +
                          " left out, which not all devices have");
  }
  if (run.knows_starts) {
    table.notes.push_back(
        fmt::format("skew: the starts of a program on the devices, counted from each device's "
                    "first one, lie {} "
                    "apart in the median and {} at the most",
                    format_quantity(merged.median_skew.seconds(), "s"),
                    format_quantity(merged.worst_skew.seconds(), "s")));
  }
  return {std::move(table)};
}

}  // namespace howard::reports
