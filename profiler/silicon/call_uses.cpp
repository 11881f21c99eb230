// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include "profiler/merged_devices.h"
#include "profiler/silicon/log_advice.h"

namespace howard::profiler {
namespace {

/// Planning a call takes up to a millisecond; beyond these, calls take next to none of the time.
constexpr std::size_t kMostEmulated = 1'000;

SimTime median(std::vector<SimTime>& times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

/// Returns the times of a call's runs, as one device would have them: of the k-th run on each
/// device the longest, of collectives the mean.
std::vector<SimTime> times_as_one(const std::map<std::uint16_t, std::vector<SimTime>>& devices,
                                  bool collective) {
  std::size_t runs = 0;
  for (const auto& [device, times] : devices) runs = std::max(runs, times.size());
  std::vector<SimTime> merged;
  for (std::size_t k = 0; k < runs; ++k) {
    SimTime sum, longest;
    std::int64_t count = 0;
    for (const auto& [device, times] : devices) {
      if (k >= times.size()) continue;
      sum += times[k];
      longest = std::max(longest, times[k]);
      ++count;
    }
    merged.push_back(collective ? SimTime::picoseconds(sum.ps() / count) : longest);
  }
  return merged;
}

bool is_of(std::string_view chip, const OpRow& call, const LoggedRun& run, std::uint16_t device) {
  const auto found = std::ranges::find(run.devices, device, &LoggedDevice::id);
  const std::string_view named =
      found != run.devices.end() ? std::string_view(found->architecture) : call.architecture;
  return named.empty() || named == chip;
}

}  // namespace

std::vector<CallUse> uses_of_calls(const LoggedRun& run, const OpCalls& calls,
                                   CallEmulator* emulator) {
  std::vector<std::map<std::uint16_t, std::vector<SimTime>>> by_device(calls.size() + 1);
  std::vector<std::uint16_t> devices(calls.size() + 1), sub_devices(calls.size() + 1);
  std::map<std::pair<std::uint16_t, std::uint16_t>, int> most_cores;
  for (const ProgramRun& program : run.timeline.programs) {
    by_device[program.call][program.device].push_back(program.kernel.duration());
    devices[program.call] = program.device;
    sub_devices[program.call] = program.sub_device;
    int& most = most_cores[{program.device, program.sub_device}];
    most = std::max<int>(most, program.cores);
  }
  // Without sub-devices a program may have all cores; with them, those that their programs use.
  const bool divided =
      std::ranges::any_of(most_cores, [](const auto& entry) { return entry.first.second != 0; });
  std::vector<CallUse> uses;
  for (std::uint32_t id = 1; id <= calls.size(); ++id) {
    if (by_device[id].empty()) continue;
    const OpRow& row = calls.row(id);
    std::vector<SimTime> times = times_as_one(by_device[id], is_collective(row.name));
    CallUse& use = uses.emplace_back(CallUse{.call = id,
                                             .name = std::string(row.name),
                                             .runs = times.size(),
                                             .fidelity = std::string(row.fidelity),
                                             .facts = facts_of(row)});
    for (const SimTime time : times) use.time += time;
    use.median = median(times);
    constexpr std::int64_t kMostCores = 1'000;
    use.cores = static_cast<int>(std::clamp<std::int64_t>(row.cores.value_or(0), 0, kMostCores));
    use.base_cores = divided ? most_cores[{devices[id], sub_devices[id]}]
                             : static_cast<int>(std::clamp<std::int64_t>(
                                   row.worker_cores.value_or(0), 0, kMostCores));
  }
  std::ranges::stable_sort(uses, std::greater(), &CallUse::time);
  for (std::size_t i = 0; i < uses.size(); ++i) {
    CallUse& use = uses[i];
    const OpRow& row = calls.row(use.call);
    if (emulator == nullptr) {
      continue;
    } else if (!is_of(emulator->chip().architecture, row, run, devices[use.call])) {
      use.obstacle = Obstacle::other_chip;
      use.not_emulated = "another chip than the emulator's";
    } else if (i >= kMostEmulated) {
      use.obstacle = Obstacle::beyond_limit;
      use.not_emulated = "beyond the calls that take the most time";
    } else {
      use.dram_at_peak = dram_time_at_peak(use.facts, emulator->chip());
      use.flops_at_peak =
          flops_time_at_peak(use.facts, emulator->chip(), use.base_cores, row.fidelity);
      CallObstacle why;
      use.emulated = emulator->run(row, &why);
      use.obstacle = why.kind;
      use.not_emulated = std::move(why.text);
    }
  }
  return uses;
}

}  // namespace howard::profiler
