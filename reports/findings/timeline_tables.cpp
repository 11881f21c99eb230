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
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

using profiler::LaneKind;
using profiler::LoggedRun;
using profiler::ProgramRun;
using profiler::Timeline;

/// Builds a table whose times get one prefix per column. The prefix is known when all rows are
/// there.
class TableBuilder {
 public:
  explicit TableBuilder(std::string caption) { table_.caption = std::move(caption); }

  void text(std::string title) { columns_.push_back({.title = std::move(title)}); }
  void number(std::string title) {
    columns_.push_back({.title = std::move(title), .number = true});
  }
  void time(std::string title) { quantity(std::move(title), "s"); }
  void share(std::string title) { quantity(std::move(title), "1"); }

  void begin_row() { rows_.emplace_back(); }
  void add(std::string text) { rows_.back().push_back({.text = std::move(text)}); }
  void add(std::uint64_t count) { add(fmt::to_string(count)); }
  void add(SimTime time) { add(time.seconds()); }
  void add(double value) { rows_.back().push_back({.value = value}); }
  /// Adds `part` of `whole`; nothing if the whole is zero.
  void add_share(SimTime part, SimTime whole) {
    if (whole > SimTime()) {
      add(part.seconds() / whole.seconds());
    } else {
      add(std::string());
    }
  }
  void note(std::string sentence) { table_.notes.push_back(std::move(sentence)); }

  /// Appends the table, unless it has no rows.
  void append_to(std::vector<Table>& tables) && {
    if (rows_.empty()) return;
    for (const Row& row : rows_) {
      TableRow& out = table_.rows.emplace_back();
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        out.cells.push_back({.text = columns_[i].si_unit.empty()
                                         ? row[i].text
                                         : quantity_text(row[i], scale_of(i))});
      }
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const bool has_unit = !columns_[i].si_unit.empty();
      table_.columns.push_back({.title = columns_[i].title,
                                .unit = has_unit ? scale_of(i).unit : "",
                                .number = columns_[i].number});
    }
    tables.push_back(std::move(table_));
  }

 private:
  struct Value {
    std::string text;
    std::optional<double> value;
  };
  using Row = std::vector<Value>;
  struct Column {
    std::string title;
    bool number = false;
    std::string si_unit;  ///< Empty for text or a plain number.
  };

  void quantity(std::string title, std::string unit) {
    columns_.push_back({.title = std::move(title), .number = true, .si_unit = std::move(unit)});
  }
  Scale scale_of(std::size_t column) const {
    std::vector<double> values;
    for (const Row& row : rows_) {
      if (row[column].value) values.push_back(*row[column].value);
    }
    return fit_scale(columns_[column].si_unit, values);
  }
  static std::string quantity_text(const Value& value, const Scale& scale) {
    return value.value ? format_number(*value.value, scale) : value.text;
  }

  Table table_;
  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

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

void add_lanes(TableBuilder& table, const LoggedRun& run, LaneKind kind,
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
    table.begin_row();
    table.add(std::move(name));
    table.add(std::uint64_t{lane.programs});
    table.add(lane.span.duration());
    table.add(lane.busy);
    table.add(lane.idle);
    table.add_share(lane.idle, lane.span.duration());
    table.add(std::uint64_t{lane.gaps.size()});
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
  TableBuilder table(
      fmt::format("{}: {}", title, counted(run.timeline.programs.size(), "program")));
  table.text("where");
  table.number("programs");
  table.time("kernels");
  for (const profiler::BusyLane& lane : lanes.devices) {
    table.begin_row();
    table.add(fmt::format("device {}", lane.device));
    table.add(std::uint64_t{lane.programs});
    table.add(lane.program_time);
  }
  std::move(table).append_to(tables);
}

/// Notes how the clocks of the hosts and the devices belong together.
void add_clock_notes(const LoggedRun& run, TableBuilder& table) {
  for (const profiler::LoggedDevice& device : run.devices) {
    if (!device.host_clock) continue;
    table.note(fmt::format(
        "device {}: its clock counts {:.4f} s in a second of the host's; a call's place among the "
        "programs is known to {}",
        device.id, device.host_clock->rate,
        format_quantity(device.host_clock->uncertainty.seconds(), "s")));
  }
}

void lane_table(const LoggedRun& run, std::string_view title, const Variety& variety,
                const Lanes& lanes, std::vector<Table>& tables) {
  const Timeline& timeline = run.timeline;
  if (timeline.programs.empty()) return;
  if (!run.knows_starts) return busy_table(run, title, lanes, tables);
  TableBuilder table(fmt::format("{}: {}", title, counted(timeline.programs.size(), "program")));
  table.text("where");
  table.number("programs");
  table.time("span");
  table.time("busy");
  table.time("idle");
  table.share("idle share");
  table.number("gaps");
  add_lanes(table, run, LaneKind::device, lanes.devices);
  if (variety.queues) {
    add_lanes(table, run, LaneKind::queue, profiler::find_gaps(timeline, LaneKind::queue));
  }
  add_lanes(table, run, LaneKind::sub_device, lanes.sub_devices);
  const profiler::SequentialGaps sequential = profiler::sequential_gaps(lanes.devices);
  if (const auto share = sequential.share()) {
    table.note(
        fmt::format("one program after the other, as the report counts: {}, {} idle, "
                    "{} of idle + busy",
                    counted(sequential.gaps, "gap"),
                    format_quantity(sequential.idle.seconds(), "s"), format_quantity(*share, "1")));
  }
  if (variety.replayed > 0) {
    table.note(fmt::format("{} of the programs are of {} of traces", variety.replayed,
                           counted(variety.replays.size(), "replay")));
  }
  add_clock_notes(run, table);
  const profiler::OpToOp op_to_op = profiler::op_to_op(lanes.devices);
  if (op_to_op.negative > 0) {
    table.note(fmt::format("{} of {} op-to-op latencies are negative (programs overlap), {} in sum",
                           op_to_op.negative, op_to_op.count,
                           format_quantity(op_to_op.negative_total.seconds(), "s")));
  }
  std::move(table).append_to(tables);
}

void op_table(const Timeline& timeline, std::string_view title, std::size_t top,
              std::vector<Table>& tables) {
  const std::vector<OpGroup> groups = group_programs(timeline, &ProgramRun::name);
  const SimTime whole = total_time(groups);
  TableBuilder table(fmt::format("{}: ops by kernel time", title));
  table.text("op");
  table.number("runs");
  table.time("time");
  table.share("share");
  table.time("mean");
  table.time("shortest");
  table.time("longest");
  const std::size_t shown = std::min(top, groups.size());
  for (const OpGroup& group : std::span(groups).first(shown)) {
    table.begin_row();
    table.add(std::string(timeline.names.name(group.name)));
    table.add(group.runs);
    table.add(group.time);
    table.add_share(group.time, whole);
    table.add(group.time.seconds() / static_cast<double>(group.runs));
    table.add(group.shortest);
    table.add(group.longest);
  }
  if (shown < groups.size()) {
    const SimTime rest = total_time(std::span(groups).subspan(shown));
    table.note(fmt::format("{} left out: {}", counted(groups.size() - shown, "op"),
                           format_quantity(rest.seconds(), "s")));
  }
  std::move(table).append_to(tables);
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
  TableBuilder table(fmt::format("{}: kernel and idle time by section", title));
  table.text("section");
  table.number("programs");
  table.time("time");
  table.share("share");
  table.time("idle before its programs");
  const std::size_t shown = std::min(top, groups.size());
  for (const OpGroup& group : std::span(groups).first(shown)) {
    const std::string_view name = timeline.names.name(group.name);
    table.begin_row();
    table.add(std::string(name.empty() ? "(before the first)" : name));
    table.add(group.runs);
    table.add(group.time);
    table.add_share(group.time, whole);
    table.add(idle[group.name]);
  }
  if (shown < groups.size()) table.note(counted(groups.size() - shown, "more section"));
  std::move(table).append_to(tables);
}

/// Appends one of the tables that experiments show too, unless it is empty.
void append(Table table, std::string_view title, std::vector<Table>& tables) {
  if (table.rows.empty()) return;
  table.caption = fmt::format("{}: {}", title, table.caption);
  tables.push_back(std::move(table));
}

void host_table(const LoggedRun& run, std::string_view title, std::size_t top,
                std::vector<Table>& tables) {
  std::vector<profiler::HostOp> ops = run.host_ops;
  std::ranges::stable_sort(ops, std::ranges::greater(), &profiler::HostOp::time);
  TableBuilder table(fmt::format("{}: ops on the host", title));
  table.text("op");
  table.text("type");
  table.number("calls");
  table.time("time");
  const std::size_t shown = std::min(top, ops.size());
  for (const profiler::HostOp& op : std::span(ops).first(shown)) {
    table.begin_row();
    table.add(std::string(run.timeline.names.name(op.name)));
    table.add(op.type);
    table.add(op.calls);
    table.add(op.time);
  }
  if (shown < ops.size()) table.note(counted(ops.size() - shown, "more op"));
  std::move(table).append_to(tables);
}

}  // namespace

std::vector<Table> timeline_tables(const LoggedRun& run, std::string_view title, std::size_t top) {
  // Each passes over all programs or gaps; they run side by side.
  std::array<std::vector<Table>, 5> parts;
  const auto tables_of_gaps = [&] {
    const Variety variety(run.timeline);
    const Lanes lanes = lanes_of(run.timeline, variety);
    tbb::parallel_invoke([&] { lane_table(run, title, variety, lanes, parts[0]); },
                         [&] {
                           section_table(run.timeline, lanes.devices, title, top, parts[2]);
                           append(causes_table(lanes.smallest()), title, parts[2]);
                           append(op_pairs_table(run.timeline, lanes.smallest(), top), title,
                                  parts[3]);
                         },
                         [&] { append(gap_lengths_table(lanes.smallest()), title, parts[4]); });
  };
  tbb::parallel_invoke(tables_of_gaps, [&] {
    op_table(run.timeline, title, top, parts[1]);
    std::ranges::move(merged_devices_tables(run, title, top), std::back_inserter(parts[1]));
  });
  host_table(run, title, top, parts[4]);
  std::vector<Table> tables;
  for (std::vector<Table>& part : parts) std::ranges::move(part, std::back_inserter(tables));
  return tables;
}

}  // namespace howard::reports
