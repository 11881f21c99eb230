// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/device_log/device_log_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "profiler/formats/device_log/cycle_counter.h"

namespace howard::profiler {
namespace {

/// Returns a cell as a number that programs have; 0 if it is none.
std::uint32_t small_number(std::int64_t cell) {
  const bool fits = cell > 0 && cell <= std::numeric_limits<std::uint32_t>::max();
  return fits ? static_cast<std::uint32_t>(cell) : 0;
}

}  // namespace

/// Returns `cycle` as if the device's counter had not wrapped; absent, and counted, if it cannot be
/// a counter's value.
std::optional<std::int64_t> DeviceLogPrograms::checked(const DeviceLane& lane, std::int64_t cycle,
                                                       std::uint64_t line) {
  if (cycle < 0 || cycle >= CycleCounter::kMost - CycleCounter::kModulus) {
    log_.dropped.add("the time is out of a cycle counter's range", line, fmt::to_string(cycle));
    return std::nullopt;
  }
  bool& near_end = near_end_[lane.device];
  if (cycle < CycleCounter::kModulus && cycle >= CycleCounter::kModulus - CycleCounter::kNearEnd) {
    near_end = true;
  }
  return near_end && cycle < CycleCounter::kNearEnd ? cycle + CycleCounter::kModulus : cycle;
}

void DeviceLogPrograms::start(const DeviceLane& lane, const DeviceProgramId& id,
                              std::uint16_t sub_device, std::int64_t cycle, std::uint64_t line) {
  const auto time = checked(lane, cycle, line);
  if (!time) return;
  LaneState& state = lanes_[lane];
  if (state.program) log_.dropped.add("a zone starts and does not end", state.line);
  state.program.reset();
  state.open.clear();
  if (*time < state.last && state.started.contains(id)) {
    ++state.run;
    state.started.clear();
  } else if (*time < state.last) {
    ++disorder_;
  }
  const Key key{state.run, lane.device, id, state.started[id]++};
  auto found = index_.find(key);
  if (found == index_.end()) {
    if (kept_ + programs_.size() == kMostLoggedPrograms) {
      log_.dropped.add(fmt::format("beyond the first {} programs", kMostLoggedPrograms), line);
      return;
    }
    found = index_.emplace(key, programs_.size()).first;
    programs_.push_back({.id = id,
                         .zones = zones_at({state.run, lane.device, id.host_id}),
                         .run = state.run,
                         .device = lane.device,
                         .sub_device = sub_device,
                         .start = std::numeric_limits<std::int64_t>::max(),
                         .end = -1});
  }
  state.program = found->second;
  state.start = state.last = *time;
  state.line = line;
}

void DeviceLogPrograms::end(const DeviceLane& lane, NameId zone, std::int64_t cycle,
                            std::uint64_t line) {
  const auto time = checked(lane, cycle, line);
  if (!time) return;
  LaneState& state = lanes_[lane];
  if (!state.program) {
    log_.dropped.add("a zone ends that did not start", line);
    return;
  }
  Program& program = programs_[*state.program];
  state.program.reset();
  if (!state.open.empty()) log_.dropped.add("a zone starts and does not end", state.line);
  state.open.clear();
  if (*time < state.start) {
    log_.dropped.add("a zone ends before it starts", line, fmt::to_string(cycle));
    return;
  }
  state.last = *time;
  program.start = std::min(program.start, state.start);
  program.end = std::max(program.end, *time);
  if (state.busy.size() <= state.run) state.busy.resize(state.run + 1);
  state.busy[state.run] += *time - state.start;
  add(zones_[program.zones], lane.risc, zone, *time - state.start);
}

void DeviceLogPrograms::start_zone(const DeviceLane& lane, NameId zone, std::int64_t cycle,
                                   std::uint64_t line) {
  const auto found = lanes_.find(lane);
  if (found == lanes_.end() || !found->second.program) return;
  if (const auto time = checked(lane, cycle, line)) found->second.open.push_back({zone, *time});
}

void DeviceLogPrograms::end_zone(const DeviceLane& lane, NameId zone, std::int64_t cycle,
                                 std::uint64_t line) {
  const auto found = lanes_.find(lane);
  if (found == lanes_.end() || !found->second.program) return;
  const auto time = checked(lane, cycle, line);
  if (!time) return;
  LaneState& state = found->second;
  if (state.open.empty() || state.open.back().zone != zone) {
    log_.dropped.add("a zone ends that did not start", line);
    return;
  }
  const std::int64_t start = state.open.back().start;
  state.open.pop_back();
  if (*time < start) {
    log_.dropped.add("a zone ends before it starts", line, fmt::to_string(cycle));
    return;
  }
  add(zones_[programs_[*state.program].zones], lane.risc, zone, *time - start);
}

void DeviceLogPrograms::total(const DeviceLane& lane, std::int64_t host_id, NameId zone,
                              std::int64_t cycles) {
  const auto found = lanes_.find(lane);
  const std::uint32_t run = found == lanes_.end() ? 0 : found->second.run;
  add(zones_[zones_at({run, lane.device, host_id})], lane.risc, zone, cycles);
}

std::size_t DeviceLogPrograms::zones_at(const ZonesKey& key) {
  const auto [found, is_new] = zones_index_.try_emplace(key, zones_.size());
  if (is_new) zones_.emplace_back();
  return found->second;
}

void DeviceLogPrograms::add(Zones& zones, NameId risc, NameId zone, std::int64_t cycles) const {
  auto found = std::ranges::find_if(
      zones, [&](const Zone& other) { return other.risc == risc && other.zone == zone; });
  if (found == zones.end()) found = zones.insert(found, {.risc = risc, .zone = zone});
  ++found->entries;
  found->cycles += cycles;
  found->longest = std::max(found->longest, cycles);
}

/// Returns the zones of the programs that ran, by device and host ID.
std::vector<ProgramZones> DeviceLogPrograms::zones_of_run(std::uint32_t run,
                                                          Frequency clock) const {
  std::map<std::pair<std::uint16_t, std::uint32_t>, ProgramZones> programs;
  for (const Program& program : programs_) {
    if (program.run != run || program.end < 0) continue;
    const std::uint32_t host_id = small_number(program.id.host_id);
    ProgramZones& zones = programs[{program.device, host_id}];
    ++zones.runs;
    zones.time += time_of_cycles(program.end - program.start, clock);
    if (zones.runs > 1) continue;
    zones.device = program.device;
    zones.host_id = host_id;
    for (const Zone& zone : zones_[program.zones]) {
      zones.zones.push_back({.risc = std::string(names_.name(zone.risc)),
                             .zone = std::string(names_.name(zone.zone)),
                             .entries = static_cast<double>(zone.entries),
                             .time = time_of_cycles(zone.cycles, clock),
                             .longest = time_of_cycles(zone.longest, clock)});
    }
    std::ranges::sort(zones.zones, {},
                      [](const ZoneTime& zone) { return std::tie(zone.risc, zone.zone); });
  }
  std::vector<ProgramZones> sorted;
  for (auto& [key, zones] : programs) sorted.push_back(std::move(zones));
  return sorted;
}

std::vector<CoreTime> DeviceLogPrograms::cores_of_run(std::uint32_t run, Frequency clock) const {
  std::map<std::tuple<std::uint16_t, std::int32_t, std::int32_t>, std::int64_t> busy;
  for (const auto& [lane, state] : lanes_) {
    if (state.busy.size() <= run || state.busy[run] == 0) continue;
    std::int64_t& most = busy[{lane.device, lane.y, lane.x}];
    most = std::max(most, state.busy[run]);
  }
  std::vector<CoreTime> cores;
  for (const auto& [place, cycles] : busy) {
    const auto& [device, y, x] = place;
    cores.push_back({.device = device, .x = x, .y = y, .busy = time_of_cycles(cycles, clock)});
  }
  return cores;
}

LoggedRun DeviceLogPrograms::make_run(std::uint32_t index, Frequency clock,
                                      const std::string& architecture) const {
  std::vector<const Program*> ran;
  std::set<std::uint16_t> devices;
  for (const Program& program : programs_) {
    if (program.run != index || program.end < 0) continue;
    ran.push_back(&program);
    devices.insert(program.device);
  }
  std::ranges::stable_sort(ran, {}, &Program::start);
  LoggedRun run;
  for (const Program* const program : ran) {
    const bool replayed = program->id.trace >= 0;
    run.timeline.programs.push_back(
        {.number = run.timeline.programs.size() + 1,
         .name = run.timeline.names.id(fmt::format("program {}", program->id.host_id)),
         .trace = small_number(program->id.trace),
         .replay = replayed ? small_number(program->id.counter) : 0,
         .device = program->device,
         .sub_device = program->sub_device,
         .kernel = {time_of_cycles(program->start, clock), time_of_cycles(program->end, clock)}});
    run.host_ids.push_back(small_number(program->id.host_id));
  }
  for (const std::uint16_t id : devices) {
    run.devices.push_back({.id = id, .architecture = architecture, .clock = clock});
  }
  run.zones = zones_of_run(index, clock);
  run.cores = cores_of_run(index, clock);
  return run;
}

void DeviceLogPrograms::end_file(const std::string& architecture, Frequency clock) {
  std::uint32_t runs = 0;
  for (const auto& [lane, state] : lanes_) {
    if (state.program) log_.dropped.add("a zone starts and does not end", state.line);
    runs = std::max(runs, state.run + 1);
  }
  if (disorder_ > 0) {
    log_.notes.push_back(fmt::format(
        "the rows of a core are not in the order of their times (at {}): which zone ends where is "
        "not known",
        disorder_ == 1 ? "1 kernel" : fmt::format("{} kernels", disorder_)));
  }
  for (std::uint32_t i = 0; i < runs; ++i) {
    LoggedRun run = make_run(i, clock, architecture);
    kept_ += run.timeline.programs.size();
    if (!run.timeline.programs.empty()) log_.runs.push_back(std::move(run));
  }
  lanes_.clear();
  index_.clear();
  programs_.clear();
  near_end_.clear();
  zones_index_.clear();
  zones_.clear();
  disorder_ = 0;
}

}  // namespace howard::profiler
