// SPDX-License-Identifier: Apache-2.0
#include "reports/findings/timeline_tables.h"

#include <fmt/format.h>
#include <oneapi/tbb/parallel_invoke.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "profiler/dispatch_gaps.h"
#include "reports/findings/gap_report.h"
#include "reports/findings/merged_devices_tables.h"
#include "reports/findings/op_groups.h"
#include "reports/findings/zone_tables.h"
#include "reports/tables/columns.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

using profiler::LaneKind;
using profiler::LoggedRun;
using profiler::ProgramRun;
using profiler::Timeline;

/// Returns `part` of `whole`; nothing if the whole is zero.
std::optional<double> share_of(SimTime part, SimTime whole) {
  return whole > SimTime() ? std::optional(part.seconds() / whole.seconds()) : std::nullopt;
}

std::optional<std::uint64_t> some(std::uint64_t count) { return count; }

/// Appends a table, unless it has no rows.
void append(Table table, std::string_view title, std::vector<Table>& tables) {
  if (table.rows.empty()) return;
  table.caption = fmt::format("{}: {}", title, table.caption);
  tables.push_back(std::move(table));
}

/// Says in what the programs of a run differ.
struct Variety {
  bool queues = false, sub_devices = false;  ///< True if there are several.
  std::size_t replayed = 0;                  ///< The number of programs of replays.
  std::set<std::pair<std::uint32_t, std::uint32_t>> replays;

  explicit Variety(const Timeline& timeline) {
    std::pair<std::uint32_t, std::uint32_t> last;
    for (const ProgramRun& program : timeline.programs) {
      queues |= program.queue != timeline.programs.front().queue;
      sub_devices |= program.sub_device != timeline.programs.front().sub_device;
      if (program.replay == 0) continue;
      ++replayed;
      const std::pair replay{program.trace, program.replay};
      if (replay != last) replays.insert(replay);
      last = replay;
    }
  }
};

std::string describe(const profiler::LoggedDevice& device) {
  return fmt::format("device {} ({}{} MHz)", device.id,
                     device.architecture.empty() ? "" : device.architecture + ", ",
                     device.clock.value() / 1'000'000);
}

/// A device, a queue or a sub-device as a row of a table.
struct LaneRow {
  std::string name;
  const profiler::BusyLane* lane;
};

void add_lanes(std::vector<LaneRow>& rows, const LoggedRun& run, LaneKind kind,
               std::span<const profiler::BusyLane> lanes) {
  for (const profiler::BusyLane& lane : lanes) {
    const auto device = std::ranges::find(run.devices, lane.device, &profiler::LoggedDevice::id);
    std::string name =
        device != run.devices.end() ? describe(*device) : fmt::format("device {}", lane.device);
    if (kind == LaneKind::queue) name += fmt::format(", queue {}", lane.index);
    if (kind == LaneKind::sub_device) {
      const bool named = lane.index < run.lanes.size();
      name = named ? run.lanes[lane.index] : name + fmt::format(", sub-device {}", lane.index);
    }
    rows.push_back({std::move(name), &lane});
  }
}

/// Holds the devices of a run and, if one has several, its sub-devices.
struct Lanes {
  std::vector<profiler::BusyLane> devices, sub_devices;

  /// A device without sub-devices has the gaps of its only one.
  std::span<const profiler::BusyLane> smallest() const {
    return sub_devices.empty() ? devices : sub_devices;
  }
};

Lanes lanes_of(const Timeline& timeline, const Variety& variety) {
  Lanes lanes{.devices = profiler::find_gaps(timeline, LaneKind::device), .sub_devices = {}};
  if (variety.sub_devices) {
    lanes.sub_devices = profiler::find_gaps(timeline, LaneKind::sub_device);
  }
  return lanes;
}

/// Shows the busy time of a log that does not say when its programs ran.
void busy_table(const LoggedRun& run, std::string_view title, const Lanes& lanes,
                std::vector<Table>& tables) {
  Table table{.caption = counted(run.timeline.programs.size(), "program")};
  add_words(table, "where", each(lanes.devices, [](const profiler::BusyLane& lane) {
              return fmt::format("device {}", lane.device);
            }));
  add_counts(table, "programs", each(lanes.devices, [](const profiler::BusyLane& lane) {
               return some(lane.programs);
             }));
  add_times(table, "kernels", each(lanes.devices, &profiler::BusyLane::program_time));
  append(std::move(table), title, tables);
}

/// Notes how the clocks of the hosts and the devices belong together.
void add_clock_notes(const LoggedRun& run, Table& table) {
  for (const profiler::LoggedDevice& device : run.devices) {
    if (!device.host_clock) continue;
    const profiler::ClockAlignment& clock = *device.host_clock;
    std::string note = fmt::format(
        "device {}: its clock counts {:.4f} s in a second of the host's; a call's place among the "
        "programs is known to {}",
        device.id, clock.rate, format_time(clock.uncertainty));
    if (clock.assumed_latency > SimTime()) {
      note +=
          fmt::format(" if the shortest time from a call to its program is {}, which no log tells",
                      format_time(clock.assumed_latency));
    }
    table.notes.push_back(std::move(note));
  }
}

void add_lane_columns(Table& table, const std::vector<LaneRow>& rows) {
  add_words(table, "where", each(rows, &LaneRow::name));
  add_counts(table, "programs",
             each(rows, [](const LaneRow& row) { return some(row.lane->programs); }));
  add_times(table, "span",
            each(rows, [](const LaneRow& row) { return row.lane->span.duration(); }));
  add_times(table, "busy", each(rows, [](const LaneRow& row) { return row.lane->busy; }));
  add_times(table, "idle", each(rows, [](const LaneRow& row) { return row.lane->idle; }));
  add_quantities(table, "idle share", "1", each(rows, [](const LaneRow& row) {
                   return share_of(row.lane->idle, row.lane->span.duration());
                 }));
  add_counts(table, "gaps",
             each(rows, [](const LaneRow& row) { return some(row.lane->gaps.size()); }));
}

void lane_table(const LoggedRun& run, std::string_view title, const Variety& variety,
                const Lanes& lanes, std::vector<Table>& tables) {
  const Timeline& timeline = run.timeline;
  if (timeline.programs.empty()) return;
  if (!run.knows_starts) return busy_table(run, title, lanes, tables);
  std::vector<LaneRow> rows;
  add_lanes(rows, run, LaneKind::device, lanes.devices);
  const std::vector<profiler::BusyLane> queues =
      variety.queues ? profiler::find_gaps(timeline, LaneKind::queue)
                     : std::vector<profiler::BusyLane>();
  add_lanes(rows, run, LaneKind::queue, queues);
  add_lanes(rows, run, LaneKind::sub_device, lanes.sub_devices);
  Table table{.caption = counted(timeline.programs.size(), "program")};
  add_lane_columns(table, rows);
  const profiler::SequentialGaps sequential = profiler::sequential_gaps(lanes.devices);
  SimTime idle;
  for (const profiler::BusyLane& lane : lanes.devices) idle += lane.idle;
  const auto share = sequential.share();
  if (share && sequential.idle != idle) {
    table.notes.push_back(
        fmt::format("one program after the other, whatever else ran then: {}, {} idle, "
                    "{} of idle + busy",
                    counted(sequential.gaps, "gap"), format_time(sequential.idle),
                    format_quantity(*share, "1")));
  }
  if (variety.replayed > 0) {
    table.notes.push_back(fmt::format("{} of the programs are of {} of traces", variety.replayed,
                                      counted(variety.replays.size(), "replay")));
  }
  add_clock_notes(run, table);
  const profiler::OpToOp op_to_op = profiler::op_to_op(lanes.devices);
  if (op_to_op.negative > 0) {
    table.notes.push_back(
        fmt::format("{} of {} op-to-op latencies are negative (programs overlap), {} in sum",
                    op_to_op.negative, op_to_op.count, format_time(op_to_op.negative_total)));
  }
  append(std::move(table), title, tables);
}

void op_table(const Timeline& timeline, std::string_view title, std::size_t top,
              std::vector<Table>& tables) {
  const std::vector<OpGroup> groups = group_programs(timeline, &ProgramRun::name);
  const SimTime whole = total_time(groups);
  const auto shown = std::span(groups).first(std::min(top, groups.size()));
  Table table{.caption = "ops by kernel time"};
  add_words(table, "op", each(shown, [&](const OpGroup& group) {
              return std::string(brief_name(timeline.names.name(group.name)));
            }));
  add_counts(table, "runs", each(shown, [](const OpGroup& group) { return some(group.runs); }));
  add_times(table, "time", each(shown, &OpGroup::time));
  add_quantities(table, "share", "1",
                 each(shown, [&](const OpGroup& group) { return share_of(group.time, whole); }));
  add_quantities(table, "mean", "s", each(shown, [](const OpGroup& group) {
                   return std::optional(group.time.seconds() / static_cast<double>(group.runs));
                 }));
  add_times(table, "shortest", each(shown, &OpGroup::shortest));
  add_times(table, "longest", each(shown, &OpGroup::longest));
  if (shown.size() < groups.size()) {
    const SimTime rest = total_time(std::span(groups).subspan(shown.size()));
    table.notes.push_back(fmt::format(
        "{} left out: {}", counted(groups.size() - shown.size(), "op"), format_time(rest)));
  }
  append(std::move(table), title, tables);
}

void section_table(const Timeline& timeline, std::span<const profiler::BusyLane> lanes,
                   std::string_view title, std::size_t top, std::vector<Table>& tables) {
  std::vector<OpGroup> groups = group_programs(timeline, &ProgramRun::section);
  if (groups.size() < 2) return;
  const SimTime whole = total_time(groups);
  std::map<profiler::NameId, SimTime> idle;  // before programs of the section
  for (const profiler::BusyLane& lane : lanes) {
    for (const profiler::Gap& gap : lane.gaps) {
      idle[timeline.programs[gap.after].section] += gap.span.duration();
    }
  }
  std::ranges::sort(groups, {}, &OpGroup::name);  // in the order in which they began
  const auto shown = std::span(groups).first(std::min(top, groups.size()));
  Table table{.caption = "kernel and idle time by section"};
  add_words(table, "section", each(shown, [&](const OpGroup& group) {
              const std::string_view name = timeline.names.name(group.name);
              return std::string(name.empty() ? "(before the first)" : name);
            }));
  add_counts(table, "programs", each(shown, [](const OpGroup& group) { return some(group.runs); }));
  add_times(table, "time", each(shown, &OpGroup::time));
  add_quantities(table, "share", "1",
                 each(shown, [&](const OpGroup& group) { return share_of(group.time, whole); }));
  add_times(table, "idle before its programs",
            each(shown, [&](const OpGroup& group) { return idle[group.name]; }));
  if (shown.size() < groups.size()) {
    table.notes.push_back(counted(groups.size() - shown.size(), "more section"));
  }
  append(std::move(table), title, tables);
}

void host_table(const LoggedRun& run, std::string_view title, std::size_t top,
                std::vector<Table>& tables) {
  std::vector<profiler::HostOp> ops = run.host_ops;
  std::ranges::stable_sort(ops, std::ranges::greater(), &profiler::HostOp::time);
  const auto shown = std::span(ops).first(std::min(top, ops.size()));
  Table table{.caption = "ops on the host"};
  add_words(table, "op", each(shown, [&](const profiler::HostOp& op) {
              return std::string(run.timeline.names.name(op.name));
            }));
  add_words(table, "type", each(shown, &profiler::HostOp::type));
  add_counts(table, "calls",
             each(shown, [](const profiler::HostOp& op) { return some(op.calls); }));
  add_times(table, "time", each(shown, &profiler::HostOp::time));
  if (shown.size() < ops.size())
    table.notes.push_back(counted(ops.size() - shown.size(), "more op"));
  append(std::move(table), title, tables);
}

}  // namespace

std::vector<Table> timeline_tables(const LoggedRun& run, std::string_view title, std::size_t top,
                                   TimelineDetail detail) {
  const bool all = detail == TimelineDetail::all;
  // Each passes over all programs or gaps; they run side by side.
  std::array<std::vector<Table>, 5> parts;
  const auto tables_of_gaps = [&] {
    const Variety variety(run.timeline);
    const Lanes lanes = lanes_of(run.timeline, variety);
    tbb::parallel_invoke([&] { lane_table(run, title, variety, lanes, parts[0]); },
                         [&] {
                           if (all)
                             section_table(run.timeline, lanes.devices, title, top, parts[2]);
                           append(causes_table(lanes.smallest()), title, parts[2]);
                           if (all)
                             append(op_pairs_table(run.timeline, lanes.smallest(), top), title,
                                    parts[3]);
                         },
                         [&] {
                           if (all) append(gap_lengths_table(lanes.smallest()), title, parts[4]);
                         });
  };
  tbb::parallel_invoke(tables_of_gaps, [&] {
    op_table(run.timeline, title, top, parts[1]);
    if (!all) return;
    std::ranges::move(zone_tables(run, title, top), std::back_inserter(parts[1]));
    std::ranges::move(merged_devices_tables(run, title, top), std::back_inserter(parts[1]));
  });
  if (all) host_table(run, title, top, parts[4]);
  std::vector<Table> tables;
  for (std::vector<Table>& part : parts) std::ranges::move(part, std::back_inserter(tables));
  return tables;
}

}  // namespace howard::reports
