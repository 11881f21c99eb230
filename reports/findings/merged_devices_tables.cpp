// SPDX-License-Identifier: Apache-2.0
#include "reports/findings/merged_devices_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "profiler/merged_devices.h"
#include "reports/findings/op_groups.h"
#include "reports/tables/format.h"
#include "reports/tables/row_columns.h"

namespace howard::reports {

std::vector<Table> merged_devices_tables(const profiler::LoggedRun& run, std::string_view title,
                                         std::size_t top) {
  const profiler::MergedDevices merged = profiler::merge_devices(run.timeline, run.knows_starts);
  if (merged.ops.empty()) return {};
  const std::size_t shown = std::min(top, merged.ops.size());
  using profiler::MergedOp;
  Table table{.caption = fmt::format("{}: ops of {} devices as one", title, merged.devices)};
  const auto first = std::span(merged.ops).first(shown);
  const RowColumns columns(table, first);
  columns.keys("op",
               [&](const MergedOp& op) { return brief_name(run.timeline.names.name(op.name)); });
  columns.counts("runs", &MergedOp::runs);
  columns.quantities("time", "s", &MergedOp::time);
  columns.quantities("share", "1", [&](const MergedOp& op) {
    return merged.time > SimTime() ? op.time.seconds() / merged.time.seconds() : 0;
  });
  columns.words("of devices",
                [](const MergedOp& op) { return op.collective ? "mean" : "longest"; });
  columns.quantities("shortest is less by", "1", [](const MergedOp& op) {
    return op.time > SimTime() ? 1 - op.shortest.seconds() / op.time.seconds() : 0;
  });
  columns.quantities("starts apart", "s", [&](const MergedOp& op) {
    return run.knows_starts ? std::optional(op.worst_skew) : std::nullopt;
  });
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
                    format_time(merged.median_skew), format_time(merged.worst_skew)));
  }
  return {std::move(table)};
}

}  // namespace howard::reports
