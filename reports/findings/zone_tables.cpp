// SPDX-License-Identifier: Apache-2.0
#include "reports/findings/zone_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "reports/findings/op_groups.h"
#include "reports/tables/format.h"
#include "reports/tables/row_columns.h"

namespace howard::reports {
namespace {

using profiler::OpZones;
using profiler::ZoneTime;

/// These zones say for how long a compute kernel waited for its circular buffers.
constexpr std::string_view kWaitFront = "CB-COMPUTE-WAIT-FRONT";
constexpr std::string_view kReserveBack = "CB-COMPUTE-RESERVE-BACK";

bool is_wait(const ZoneTime& zone) { return zone.zone == kWaitFront || zone.zone == kReserveBack; }

const ZoneTime* kernel_of(const OpZones& op, std::string_view risc) {
  const auto found = std::ranges::find_if(
      op.zones, [&](const ZoneTime& zone) { return zone.is_kernel() && zone.risc == risc; });
  return found == op.zones.end() ? nullptr : &*found;
}

/// Returns the part of the kernel of its own RISC that a zone took; absent if it is not known.
std::optional<double> share_of_kernel(const OpZones& op, const ZoneTime& zone) {
  const ZoneTime* const kernel = kernel_of(op, zone.risc);
  if (kernel == nullptr || kernel->time <= SimTime()) return std::nullopt;
  return zone.time.seconds() / kernel->time.seconds();
}

std::optional<double> share_of_wait(const OpZones& op, std::string_view name) {
  const auto found = std::ranges::find(op.zones, name, &ZoneTime::zone);
  return found == op.zones.end() ? std::nullopt : share_of_kernel(op, *found);
}

/// Returns what one entry of the zone takes, in the mean of the op's programs.
std::optional<double> mean_of(const OpZones& op, const ZoneTime* zone) {
  if (zone == nullptr) return std::nullopt;
  const auto place = static_cast<std::size_t>(zone - op.zones.data());
  return op.means[place].seconds() / static_cast<double>(op.programs);
}

/// Returns the cores of a program in the mean: as many as run the kernel of the RISC that most do.
std::uint64_t cores_of(const OpZones& op) {
  double most = 0;
  for (const ZoneTime& zone : op.zones) {
    if (zone.is_kernel()) most = std::max(most, zone.entries);
  }
  return static_cast<std::uint64_t>(most / static_cast<double>(op.programs) + 0.5);
}

Table kernels_table(const profiler::NameTable& names, std::span<const OpZones> ops,
                    std::size_t top) {
  const std::span<const OpZones> shown = ops.first(std::min(top, ops.size()));
  std::set<std::string> riscs;
  for (const OpZones& op : shown) {
    for (const ZoneTime& zone : op.zones) {
      if (zone.is_kernel()) riscs.insert(zone.risc);
    }
  }
  const auto waits_for_input = [](const OpZones& op) { return share_of_wait(op, kWaitFront); };
  const auto waits_for_room = [](const OpZones& op) { return share_of_wait(op, kReserveBack); };
  Table table{.caption = "kernels of the RISCs by op"};
  const RowColumns columns(table, shown);
  columns.keys("op", [&](const OpZones& op) { return brief_name(names.name(op.name)); });
  columns.counts("programs", &OpZones::programs);
  columns.counts("cores", cores_of);
  columns.quantities("program", "s", [](const OpZones& op) {
    return op.time.seconds() / static_cast<double>(op.programs);
  });
  for (const std::string& risc : riscs) {
    columns.quantities(risc, "s",
                       [&](const OpZones& op) { return mean_of(op, kernel_of(op, risc)); });
  }
  columns.quantities("waits for input", "1", waits_for_input);
  columns.quantities("waits for room", "1", waits_for_room);
  if (shown.size() < ops.size()) {
    table.notes.push_back(counted(ops.size() - shown.size(), "more op"));
  }
  table.notes.emplace_back(
      "program: from the first core's start to the last one's end; BRISC and so on: that RISC's "
      "kernel on one core, in the mean");
  if (std::ranges::any_of(shown, [&](const OpZones& op) {
        return waits_for_input(op).has_value() || waits_for_room(op).has_value();
      })) {
    table.notes.emplace_back(
        "waits for input, for room: the part of the compute kernel in which it waited for the "
        "reader to fill, or the writer to empty, a circular buffer");
  }
  return table;
}

Table inner_zones_table(const profiler::NameTable& names, std::span<const OpZones> ops,
                        std::size_t top) {
  std::vector<std::pair<const OpZones*, const ZoneTime*>> zones;
  for (const OpZones& op : ops) {
    for (const ZoneTime& zone : op.zones) {
      if (!zone.is_kernel() && !is_wait(zone)) zones.emplace_back(&op, &zone);
    }
  }
  std::ranges::stable_sort(zones, std::greater(),
                           [](const auto& entry) { return entry.second->time; });
  const std::size_t shown = std::min(top, zones.size());
  using Row = std::pair<const OpZones*, const ZoneTime*>;
  Table table{.caption = "zones within kernels by time"};
  const auto first = std::span(zones).first(shown);
  const RowColumns columns(table, first);
  columns.keys("op", [&](const Row& row) { return brief_name(names.name(row.first->name)); });
  columns.words("RISC", [](const Row& row) { return row.second->risc; });
  columns.keys("zone", [](const Row& row) { return row.second->zone; });
  columns.counts("entries", [](const Row& row) {
    return static_cast<std::uint64_t>(row.second->entries + 0.5);
  });
  columns.quantities("mean", "s", [](const Row& row) { return mean_of(*row.first, row.second); });
  columns.quantities("longest", "s", [](const Row& row) { return row.second->longest; });
  columns.quantities("of the kernel", "1",
                     [](const Row& row) { return share_of_kernel(*row.first, *row.second); });
  if (shown < zones.size()) table.notes.push_back(counted(zones.size() - shown, "more zone"));
  return table;
}

}  // namespace

std::vector<Table> zone_tables(const profiler::LoggedRun& run, std::string_view title,
                               std::size_t top) {
  const std::vector<OpZones> ops = profiler::zones_by_op(run);
  std::vector<Table> tables;
  for (Table table : {kernels_table(run.timeline.names, ops, top),
                      inner_zones_table(run.timeline.names, ops, top)}) {
    if (table.rows.empty()) continue;
    table.caption = fmt::format("{}: {}", title, table.caption);
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace howard::reports
