// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/device_log_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "profiler/formats/cycle_counter.h"

namespace howard::profiler {

/// `cycle` as if the device's counter had not wrapped; absent, and counted, when it can not be one.
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
  if (*time < state.last && state.started.contains(id)) {
    ++state.run;
    state.started.clear();
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

void DeviceLogPrograms::end(const DeviceLane& lane, std::int64_t cycle, std::uint64_t line) {
  const auto time = checked(lane, cycle, line);
  if (!time) return;
  LaneState& state = lanes_[lane];
  if (!state.program) {
    log_.dropped.add("a zone ends that did not start", line);
    return;
  }
  Program& program = programs_[*state.program];
  state.program.reset();
  if (*time < state.start) {
    log_.dropped.add("a zone ends before it starts", line, fmt::to_string(cycle));
    return;
  }
  state.last = *time;
  program.start = std::min(program.start, state.start);
  program.end = std::max(program.end, *time);
}

void DeviceLogPrograms::end_file(const std::string& architecture, Frequency clock) {
  std::uint32_t runs = 0;
  for (const auto& [lane, state] : lanes_) {
    if (state.program) log_.dropped.add("a zone starts and does not end", state.line);
    runs = std::max(runs, state.run + 1);
  }
  for (std::uint32_t i = 0; i < runs; ++i) {
    LoggedRun run;
    std::set<std::uint16_t> devices;
    for (const Program& program : programs_) {
      if (program.run != i || program.end < 0) continue;
      const auto number = [](std::int64_t cell) {
        const bool fits = cell > 0 && cell <= std::numeric_limits<std::uint32_t>::max();
        return fits ? static_cast<std::uint32_t>(cell) : 0;
      };
      devices.insert(program.device);
      run.timeline.programs.push_back(
          {.name = run.timeline.names.id(fmt::format("program {}", program.id.host_id)),
           .trace = number(program.id.trace),
           .replay = program.id.trace >= 0 ? number(program.id.counter) : 0,
           .device = program.device,
           .sub_device = program.sub_device,
           .kernel = {time_of_cycles(program.start, clock), time_of_cycles(program.end, clock)}});
    }
    std::ranges::stable_sort(run.timeline.programs, {},
                             [](const ProgramRun& program) { return program.kernel.start; });
    std::uint64_t number = 0;
    for (ProgramRun& program : run.timeline.programs) program.number = ++number;
    for (const std::uint16_t id : devices) {
      run.devices.push_back({.id = id, .architecture = architecture, .clock = clock});
    }
    kept_ += run.timeline.programs.size();
    if (!run.timeline.programs.empty()) log_.runs.push_back(std::move(run));
  }
  lanes_.clear();
  index_.clear();
  programs_.clear();
  near_end_.clear();
}

}  // namespace howard::profiler
