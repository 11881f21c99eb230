// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/ops_csv/ops_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/large_pages.h"
#include "base/text.h"
#include "profiler/formats/logged_chip.h"
#include "profiler/formats/ops_csv/ops_host_times.h"
#include "profiler/formats/ops_csv/ops_placement.h"
#include "profiler/formats/ops_csv/ops_sections.h"

namespace howard::profiler {
namespace {

/// This is the type of host ops that were captured into a trace.
constexpr std::string_view kTraceCapture = "trace_capture";

/// A miss of the program cache takes the host at least this long. Of logged calls, the shortest of
/// 404 that made their program took 145 us (DistilBERT, September 2024), and the longest of 111 of
/// which PROGRAM CACHE HIT says False though their programs were there 9 us (July 2026).
constexpr SimTime kLeastMiss = SimTime::nanoseconds(50'000);

bool is_signpost(const OpRow& row) { return row.type == "signpost"; }

/// Returns whether its type or its times say that it ran on the device.
bool is_device_op(const OpRow& row) {
  return row.type == "tt_dnn_device" || row.kernel_time || row.firmware_start;
}

/// Returns what a file without some columns does not tell.
std::vector<std::string> unknown_without(const OpsFileKnows& knows) {
  std::vector<std::string> notes;
  if (!knows.names) notes.emplace_back("there is no column OP CODE: ops have no names");
  if (!knows.devices) {
    notes.emplace_back("there is no column DEVICE ID: all ops are taken to be of one device");
  }
  if (!knows.starts) {
    notes.emplace_back(
        "there is no column DEVICE FW START CYCLE: when an op ran is not known, and so neither "
        "idle time nor what ran side by side");
  } else if (!knows.latencies) {
    notes.emplace_back(
        "there is no column OP TO OP LATENCY [ns]: a kernel is taken to lie in the middle of its "
        "firmware's time");
  }
  if (knows.starts && !knows.firmware) {
    notes.emplace_back(
        "there is no column DEVICE FW END CYCLE or DEVICE FW DURATION [ns]: how long after its "
        "firmware a kernel began is not known, so that busy and idle times are not exact");
  }
  return notes;
}

/// Returns the clock that makes cycles of nanoseconds, in whole MHz: the median of what the rows
/// say, because a damaged counter spoils a mean. It is 0 when no row says, or none that is
/// believed.
Frequency median_clock(const std::map<std::int64_t, std::size_t>& clocks) {
  std::size_t rows = 0;
  for (const auto& [megahertz, count] : clocks) rows += count;
  std::size_t below = 0;
  for (const auto& [megahertz, count] : clocks) {
    below += count;
    if (below <= rows / 2) continue;
    const Frequency clock(megahertz * 1'000'000);
    return clock >= kSlowestClock && clock <= kFastestClock ? clock : Frequency();
  }
  return {};
}

std::uint16_t small(std::optional<std::int64_t> cell) {
  const bool fits = cell && *cell > 0 && *cell <= std::numeric_limits<std::uint16_t>::max();
  return fits ? static_cast<std::uint16_t>(*cell) : std::uint16_t{0};
}

std::uint32_t number(std::optional<std::int64_t> cell) {
  const bool fits = cell && *cell > 0 && *cell <= std::numeric_limits<std::uint32_t>::max();
  return fits ? static_cast<std::uint32_t>(*cell) : 0;
}

}  // namespace

OpsTimelineBuilder::OpsTimelineBuilder(Log& log, const OpsFileKnows& knows,
                                       const ReadOptions& options)
    : log_(log), knows_(knows), options_(options), sections_(options.range) {
  log_.notes = unknown_without(knows);
}

void OpsTimelineBuilder::add(const OpRow& row) {
  if (row.starts_file && !repeats_first_row(row)) end_run();
  if (is_signpost(row)) {
    sections_.add_signpost(row);
  } else if (!sections_.wants(row)) {
    note_excluded(row);
  } else if (!is_device_op(row)) {
    add_host_op(run_.timeline.names.id(row.name), row.type, row.host_time.value_or(SimTime()));
  } else if (!row.kernel_time || (!row.firmware_start && knows_.starts)) {
    add_timeless(row);
  } else {
    add_device_op(row);
  }
}

void OpsTimelineBuilder::add_host_op(NameId name, std::string_view type, SimTime time) {
  HostOp& op = host_ops_[{name, std::string(type)}];
  op.name = name;
  op.type = type;
  ++op.calls;
  op.time += time;
}

void OpsTimelineBuilder::drop_timeless(NameId name, std::uint64_t line) {
  const std::string_view op = run_.timeline.names.name(name);
  log_.dropped.add_of(op, "a device op without device times", line, op);
  ++run_.timeline.losses;
}

void OpsTimelineBuilder::add_timeless(const OpRow& row) {
  const NameId name = run_.timeline.names.id(row.name);
  const bool is_kept = timeless_.add(row, {.host_id = number(row.call),
                                           .line = row.line,
                                           .name = name,
                                           .host_start = row.host_start.value_or(LoggedOp::kNoHost),
                                           .host_time = row.host_time.value_or(SimTime())});
  if (!is_kept) drop_timeless(name, row.line);
}

/// A call that traces replay was captured: it ran nothing by itself.
void OpsTimelineBuilder::sort_timeless() {
  std::unordered_map<std::uint32_t, std::int64_t> captured;
  std::uint64_t lost = 0;
  bool at_the_end = true;
  timeless_.sort(
      [&](const Timeless& op) {
        add_host_op(op.name, kTraceCapture, op.host_time);
        captured.emplace(op.host_id, op.host_start);
      },
      [&](const Timeless& op) {
        drop_timeless(op.name, op.line);
        ++lost;
        at_the_end = at_the_end && op.host_id > latest_call_;
      });
  if (lost > 0 && at_the_end && latest_call_ > 0) {
    log_.notes.push_back(fmt::format(
        "device ops at the end without times: {}; a profiler that keeps its markers in L1 "
        "(--enable-accumulate-profiling) drops those beyond 125 scopes a RISC, so synchronize more "
        "often",
        lost));
  }
  latest_call_ = 0;
  if (!captured.empty()) forget_captures(captured);
}

/// A replay that repeats the host's time of its capture does not tell when it was asked for.
void OpsTimelineBuilder::forget_captures(
    const std::unordered_map<std::uint32_t, std::int64_t>& captured) {
  for (auto& [id, device] : devices_) {
    for (std::vector<LoggedOp>& piece : device.ops) {
      for (LoggedOp& op : piece) {
        const auto found = op.replay == 0 ? captured.end() : captured.find(op.host_id);
        if (found == captured.end() || found->second != op.host_start) continue;
        op.host_start = LoggedOp::kNoHost;
        op.host_time = 0;
      }
    }
  }
}

void OpsTimelineBuilder::note_excluded(const OpRow& row) {
  if (!sections_.is_before(row) || !is_device_op(row) || !row.kernel_time) return;
  const std::uint32_t call = options_.tensors == Tensors::read ? log_.calls.id(row) : 0;
  ran_before_.emplace(call, run_.timeline.names.id(row.name));
}

bool OpsTimelineBuilder::is_compiled(const OpRow& row) {
  if (!row.compiled) return false;
  if (!row.replay && (!row.host_time || *row.host_time >= kLeastMiss)) return true;
  ++doubted_misses_;
  return false;
}

bool OpsTimelineBuilder::repeats_first_row(const OpRow& row) const {
  const auto found = devices_.find(row.device);
  return found != devices_.end() && row.call && row.call == found->second.first_call &&
         row.firmware_start == found->second.first_cycle;
}

bool OpsTimelineBuilder::begins_run(const OpRow& row) const {
  const auto found = devices_.find(row.device);
  if (found == devices_.end() || !row.call || row.replay || !row.firmware_start) return false;
  const Device& device = found->second;
  if (repeats_first_row(row)) return false;
  return row.call == device.first_call && *row.firmware_start < device.last_cycle &&
         !CycleCounter::between(device.last_cycle, *row.firmware_start);
}

void OpsTimelineBuilder::add_device_op(const OpRow& row) {
  if (begins_run(row)) end_run();
  if (programs_ == kMostLoggedPrograms) {
    log_.dropped.add_of(row.name, fmt::format("beyond the first {} programs", kMostLoggedPrograms),
                        row.line);
    ++run_.timeline.losses;
    return;
  }
  const auto drop = [&](std::string_view reason) {
    log_.dropped.add_of(row.name, reason, row.line, row.name);
    ++run_.timeline.losses;
  };
  Device& device = devices_[row.device];
  std::int64_t cycles = -1;
  const std::int64_t start = row.firmware_start.value_or(0);
  if (row.firmware_start && row.firmware_end) {
    const auto between = CycleCounter::between(start, *row.firmware_end);
    if (!between) return drop("DEVICE FW END CYCLE is before DEVICE FW START CYCLE");
    cycles = *between;
  }
  LoggedOp op;
  if (cycles >= CycleCounter::kMost || !device.order.add(start, op)) {
    return drop("DEVICE FW START CYCLE is out of range");
  }
  if (device.architecture.empty()) device.architecture = row.architecture;
  device.mixed |= !row.architecture.empty() && row.architecture != device.architecture;
  device.worker_cores = std::max(device.worker_cores, row.worker_cores.value_or(0));
  device.used_cores = std::max(device.used_cores, row.cores.value_or(0));
  // A replay repeats the call count of its capture: only a call that is made again begins a run.
  if (!device.first_call && !row.replay) {
    device.first_call = row.call;
    device.first_cycle = start;
  }
  device.last_cycle = start;
  if (!host_origin_) host_origin_ = row.host_start;
  LoggedOp& kept = device.add_op();  // written there and not copied: see place_kernels()
  kept.start = op.start;
  kept.wraps = op.wraps;
  kept.cycles = cycles;
  kept.firmware = row.firmware_time.value_or(LoggedOp::kUnsaid);
  kept.kernel = *row.kernel_time;
  kept.op_to_op = row.op_to_op.value_or(LoggedOp::kUnsaid);
  kept.line = row.line;
  kept.name = run_.timeline.names.id(row.name.empty() ? "(an op without a name)" : row.name);
  kept.section = sections_.section_of(row);
  kept.trace = number(row.trace);
  kept.replay = number(row.replay);
  kept.call = options_.tensors == Tensors::read ? log_.calls.id(row) : 0;
  kept.host_id = number(row.call);
  kept.cores = small(row.cores);
  kept.sub_device = row.sub_device;
  kept.compiled = is_compiled(row);
  kept.ran_before = ran_before_.contains({kept.call, kept.name});
  timeless_.add_timed(row);
  latest_call_ = std::max(latest_call_, kept.host_id);
  set_host_times(row, kept);
  device.add_clock(kept);
  ++programs_;
}

/// Sets the time of the host's call, unless it is a day or more from the first one, which is
/// damage.
void OpsTimelineBuilder::set_host_times(const OpRow& row, LoggedOp& op) const {
  op.host_start = LoggedOp::kNoHost;
  op.host_time = 0;
  if (!row.host_start) return;
  constexpr std::int64_t kDay = 86'400'000'000'000;
  std::int64_t since = 0;
  if (__builtin_sub_overflow(*row.host_start, *host_origin_, &since)) return;
  if (since < -kDay || since > kDay) return;
  op.host_start = *row.host_start;
  const std::int64_t nanoseconds = row.host_time.value_or(SimTime()).ps() / 1'000;
  op.host_time = static_cast<std::uint32_t>(
      std::min<std::int64_t>(nanoseconds, std::numeric_limits<std::uint32_t>::max()));
}

LoggedOp& OpsTimelineBuilder::Device::add_op() {
  constexpr std::size_t kFirst = 16, kLongest = 262'144;
  if (ops.empty() || ops.back().size() == ops.back().capacity()) {
    const std::size_t size = ops.empty() ? kFirst : std::min(kLongest, 4 * ops.back().size());
    ops.emplace_back().reserve(size);
    prefer_large_pages(ops.back());
  }
  return ops.back().emplace_back();
}

void OpsTimelineBuilder::Device::add_clock(const LoggedOp& op) {
  // Rounding to a nanosecond is too coarse for a clock where the firmware ran for less than this.
  constexpr SimTime kLongEnough = SimTime::nanoseconds(1'000);
  if (op.firmware < kLongEnough || op.cycles <= 0) return;
  const double megahertz = static_cast<double>(op.cycles) / op.firmware.seconds() * 1e-6;
  // All values that are not believed count as one clock on their side, so that damage does not fill
  // the list.
  constexpr std::int64_t kMegahertz = 1'000'000;
  ++clocks[std::clamp<std::int64_t>(std::llround(megahertz), kSlowestClock.value() / kMegahertz - 1,
                                    kFastestClock.value() / kMegahertz + 1)];
}

/// Returns what the device is, and says how much of it was guessed.
LoggedDevice OpsTimelineBuilder::describe_device(std::uint16_t id, Device& device) {
  Frequency clock = median_clock(device.clocks);
  if (device.mixed) {
    log_.notes.push_back(fmt::format("device {}: its rows name several chips; taken to be {}", id,
                                     device.architecture));
  }
  if (device.architecture.empty()) {
    device.architecture = architecture_of(clock, device.worker_cores);
    if (!device.architecture.empty()) {
      log_.notes.push_back(fmt::format(
          "device {}: the log does not name its chip; taken to be {} by {}", id,
          device.architecture,
          clock > Frequency() ? fmt::format("its clock of {} MHz", clock.value() / 1'000'000)
                              : fmt::format("its {} worker cores", device.worker_cores)));
    }
  }
  if (clock == Frequency()) {
    clock = usual_clock(device.architecture);
    if (knows_.starts) {
      log_.notes.push_back(
          fmt::format("device {}: no row tells its clock; taken to be {} MHz, as shipped", id,
                      clock.value() / 1'000'000));
    }
  }
  const auto told = [](std::int64_t cores) {
    return static_cast<int>(std::min<std::int64_t>(cores, 1'000'000));
  };
  return {.id = id,
          .architecture = std::move(device.architecture),
          .clock = clock,
          .worker_cores = told(device.worker_cores),
          .used_cores = told(device.used_cores)};
}

/// Puts each device's ops in order of their starts, and every op in its section.
void OpsTimelineBuilder::put_in_order() {
  bool kept = true;
  std::vector<LoggedOps*> all;
  for (auto& [id, device] : devices_) {
    all.push_back(&device.ops);
    if (device.order.is_kept() || !knows_.starts) continue;
    sort_by_start(device.ops);
    kept = false;
  }
  sections_.assign(all, kept, log_.notes);
}

void OpsTimelineBuilder::make_programs() {
  std::size_t programs = 0;
  for (const auto& [id, device] : devices_) {
    for (const std::vector<LoggedOp>& ops : device.ops) programs += ops.size();
  }
  run_.timeline.programs.reserve(programs);
  prefer_large_pages(run_.timeline.programs);
  run_.knows_starts = knows_.starts;
  for (auto& [id, device] : devices_) {
    LoggedDevice described = describe_device(id, device);
    const std::size_t first = run_.timeline.programs.size();
    place_kernels(device.ops,
                  {.id = id,
                   .clock = described.clock,
                   .worker_cores = described.worker_cores,
                   .knows_sub_devices = knows_.sub_devices,
                   .knows_starts = knows_.starts,
                   .keeps_host_ids = options_.host_ids,
                   .host_origin = host_origin_.value_or(0)},
                  run_, log_);
    align_host_times(std::span(run_.timeline.programs).subspan(first), host_origin_.value_or(0),
                     described, log_.notes);
    run_.devices.push_back(std::move(described));
  }
}

/// Numbers the names as the programs need them, so that the order of the rows leaves no trace.
void OpsTimelineBuilder::number_names() {
  NameTable& old = run_.timeline.names;
  NameTable names;
  std::set<NameId> sections;
  for (const ProgramRun& program : run_.timeline.programs) sections.insert(program.section);
  std::map<NameId, NameId> of_sections;
  for (const NameId section : sections) of_sections[section] = names.id(sections_.name(section));
  constexpr NameId kNone = ~NameId{0};
  std::vector<NameId> renumbered(old.size(), kNone);
  auto section = of_sections.begin();
  for (ProgramRun& program : run_.timeline.programs) {
    NameId& name = renumbered[program.name];
    if (name == kNone) name = names.id(old.name(program.name));
    program.name = name;
    if (section->first != program.section) section = of_sections.find(program.section);
    program.section = section->second;
  }
  for (auto& [key, op] : host_ops_) {
    op.name = names.id(old.name(op.name));
    run_.host_ops.push_back(std::move(op));
  }
  std::ranges::sort(run_.host_ops, {}, [&](const HostOp& op) {
    return std::pair(names.name(op.name), std::string_view(op.type));
  });
  old = std::move(names);
}

void OpsTimelineBuilder::end_run() {
  sort_timeless();
  put_in_order();
  make_programs();
  number_names();
  std::set<std::string> chips;
  for (const LoggedDevice& device : run_.devices) chips.insert(device.architecture);
  if (chips.size() > 1) {
    const std::vector<std::string> names(chips.begin(), chips.end());
    log_.notes.push_back("the log is of several chips: " + join(names, ", "));
  }
  if (!run_.timeline.programs.empty() || !run_.host_ops.empty()) {
    log_.runs.push_back(std::move(run_));
  }
  run_ = LoggedRun();
  sections_.begin_run();
  host_origin_.reset();
  devices_.clear();
  host_ops_.clear();
  ran_before_.clear();
}

void OpsTimelineBuilder::end_log() {
  sections_.require_range();
  if (doubted_misses_ > 0) {
    log_.notes.push_back(fmt::format(
        "taken for hits of the program cache: {} with PROGRAM CACHE HIT False, whose call took the "
        "host less than {} us or was replayed",
        doubted_misses_, kLeastMiss.ps() / 1'000'000));
  }
}

}  // namespace howard::profiler
