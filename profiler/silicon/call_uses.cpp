// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "engines/chip/kernels/ttnn_names.h"
#include "profiler/median.h"
#include "profiler/merged_devices.h"
#include "profiler/silicon/log_advice.h"

namespace howard::profiler {
namespace {

/// Planning a call takes up to a millisecond; beyond these, calls take next to none of the time.
constexpr std::size_t kMostEmulated = 1'000;

/// Returns the times of each call's runs, by the call's number, as one device would have them: of
/// what the devices ran together the longest, of collectives the mean. What they ran together can
/// be several calls, if the devices had other cores for it: it is then the first device's.
std::vector<std::vector<SimTime>> times_of_calls(const LoggedRun& run, std::size_t calls) {
  std::vector<std::vector<SimTime>> times(calls + 1);
  const std::vector<ProgramRun>& programs = run.timeline.programs;
  const bool several = std::ranges::any_of(programs, [&](const ProgramRun& program) {
    return program.device != programs.front().device;
  });
  if (!several) {
    for (const ProgramRun& program : programs) {
      times[program.call].push_back(program.kernel.duration());
    }
    return times;
  }
  for (const auto& [name, devices] : runs_by_op(run.timeline)) {
    const bool collective = is_collective(run.timeline.names.name(name));
    std::size_t runs = 0;
    for (const auto& [device, list] : devices) runs = std::max(runs, list.size());
    for (std::size_t k = 0; k < runs; ++k) {
      SimTime sum, longest;
      std::int64_t count = 0;
      std::uint32_t call = 0;
      for (const auto& [device, list] : devices) {
        if (k >= list.size()) continue;
        const SimTime time = list[k]->kernel.duration();
        if (count++ == 0) call = list[k]->call;
        sum += time;
        longest = std::max(longest, time);
      }
      times[call].push_back(collective ? SimTime::picoseconds(sum.ps() / count) : longest);
    }
  }
  return times;
}

/// Returns the times before each call's runs that the host had a part in, by the call's number.
std::vector<std::vector<SimTime>> host_gaps_of_calls(const LoggedRun& run, std::size_t calls,
                                                     std::span<const BusyLane> devices) {
  std::vector<std::vector<SimTime>> gaps(calls + 1);
  for (const BusyLane& lane : devices) {
    for (std::size_t i = 0; i < lane.gaps.size(); ++i) {
      const CauseTimes causes = lane.causes_of(i);
      gaps[run.timeline.programs[lane.gaps[i].after].call].push_back(
          causes[GapCause::between_calls] + causes[GapCause::host_issuing] +
          causes[GapCause::compile]);
    }
  }
  return gaps;
}

bool is_elementwise(std::string_view op) {
  constexpr std::array<std::string_view, 5> kWords{"Binary", "Unary", "Ternary", "Typecast",
                                                   "Where"};
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return op.find(word) != std::string_view::npos; });
}

/// Sets what the chip could do at the most. What would take longer than it took is not so.
void set_peaks(CallUse& use, const chip::ChipProfile& chip) {
  constexpr double kRounding = 1.02;
  const auto possible = [&](SimTime time) {
    return time.seconds() <= kRounding * use.median.seconds();
  };
  const SimTime once = dram_time_at_peak(use.facts, chip);
  const SimTime all = once + dram_time_of(use.facts.read_again, chip);
  use.dram_at_peak = possible(all) ? all : possible(once) ? once : SimTime();
  if (!possible(all)) use.facts.read_again = Bytes();
  use.facts.moves_a_part = use.facts.moves_a_part || !possible(once);
  use.flops_at_peak = flops_time_at_peak(use.facts, chip, use.base_cores, use.fidelity);
  if (!possible(use.flops_at_peak)) use.flops_at_peak = SimTime();
}

bool is_of(std::string_view chip, const OpRow& call, const LoggedRun& run, std::uint16_t device) {
  const auto found = std::ranges::find(run.devices, device, &LoggedDevice::id);
  const std::string_view named = call.architecture.empty() && found != run.devices.end()
                                     ? std::string_view(found->architecture)
                                     : call.architecture;
  return named.empty() || named == chip;
}

}  // namespace

bool has_doubtful_shapes(std::string_view op, std::vector<SimTime> times) {
  constexpr std::size_t kFewest = 4;
  if (!is_elementwise(op) || times.size() < kFewest) return false;
  std::ranges::sort(times);
  const SimTime low = times[times.size() / 10];
  const SimTime high = times[times.size() - 1 - times.size() / 10];
  constexpr std::int64_t kFar = 2;
  constexpr SimTime kNotNoise = SimTime::microseconds(3);
  return high > kFar * low && high - low > kNotNoise;
}

std::string_view bound_of(const CallUse& use) {
  constexpr double kReached = 0.65;  // as tt-perf-report has it
  const bool known = use.at_peak() > SimTime() && use.median > SimTime();
  const auto reaches = [&](SimTime time) {
    return known && time.seconds() >= kReached * use.median.seconds();
  };
  const bool dram = reaches(use.dram_at_peak), flops = reaches(use.flops_at_peak);
  if (dram || flops) return dram && flops ? "both" : dram ? "DRAM" : "FLOPs";
  if (use.gap > use.median) return "host";
  return known ? "slow" : "";
}

OpWork work_of(std::string_view op) {
  if (is_collective(op)) return OpWork::communication;
  if (op.find("Norm") != std::string_view::npos) return OpWork::compute;
  // Beside those that could be done without, these compute nothing.
  constexpr std::array<std::string_view, 18> kWords{
      "Concat", "Slice", "Split",  "Pad",     "CreateHeads", "CreateQKVHeads",
      "Cache",  "Move",  "Clone",  "Assign",  "Repeat",      "Expand",
      "Fold",   "Halo",  "Gather", "Scatter", "Embeddings",  "FullLike"};
  const bool moves = std::ranges::any_of(
      kWords, [&](std::string_view word) { return op.find(word) != std::string_view::npos; });
  return moves || chip::moves_elements(op) ? OpWork::data_movement : OpWork::compute;
}

std::string_view name_of(OpWork work) {
  switch (work) {
    case OpWork::compute:
      return "compute";
    case OpWork::communication:
      return "communication";
    case OpWork::data_movement:
      return "data movement";
  }
  return "";
}

namespace {

/// Holds the first device and sub-device that each call ran on, and the cores of each.
struct CallPlaces {
  std::vector<std::uint16_t> devices, sub_devices;
  std::map<std::pair<std::uint16_t, std::uint16_t>, int> most_cores;
  bool divided = false;  ///< With sub-devices a call may have the cores that their programs use.

  CallPlaces(const LoggedRun& run, std::size_t calls) : devices(calls + 1), sub_devices(calls + 1) {
    for (const ProgramRun& program : run.timeline.programs) {
      devices[program.call] = program.device;
      sub_devices[program.call] = program.sub_device;
      int& most = most_cores[{program.device, program.sub_device}];
      most = std::max<int>(most, program.cores);
    }
    divided =
        std::ranges::any_of(most_cores, [](const auto& entry) { return entry.first.second != 0; });
  }
};

void emulate(CallUse& use, const OpRow& row, bool wanted, CallEmulator& emulator) {
  CallObstacle why;
  if (use.doubtful) {
    why = {Obstacle::refused, "its runs differ by more than one shape allows"};
  } else if (!wanted) {
    why = {Obstacle::beyond_limit, "beyond the calls that take the most time"};
  } else {
    use.emulated = emulator.run(row, &why, use.median);
  }
  use.obstacle = why.kind;
  use.not_emulated = std::move(why.text);
}

}  // namespace

std::vector<CallUse> uses_of_calls(const LoggedRun& run, const OpCalls& calls,
                                   std::span<const BusyLane> devices, CallEmulator* emulator) {
  std::vector<std::vector<SimTime>> times = times_of_calls(run, calls.size());
  std::vector<std::vector<SimTime>> gaps = host_gaps_of_calls(run, calls.size(), devices);
  CallPlaces places(run, calls.size());
  std::vector<CallUse> uses;
  for (std::uint32_t id = 1; id <= calls.size(); ++id) {
    if (times[id].empty()) continue;
    const OpRow& row = calls.row(id);
    CallUse& use = uses.emplace_back(CallUse{.call = id,
                                             .name = std::string(row.name),
                                             .runs = times[id].size(),
                                             .fidelity = std::string(row.fidelity),
                                             .facts = facts_of(row)});
    for (const SimTime time : times[id]) use.time += time;
    use.doubtful = has_doubtful_shapes(row.name, times[id]);
    use.median = median(times[id]);
    if (!gaps[id].empty()) use.gap = median(gaps[id]);
    for (std::size_t i = 0; i < use.counters.size(); ++i) use.counters.at(i) = calls.counter(id, i);
    constexpr std::int64_t kMostCores = 1'000;
    use.cores = static_cast<int>(std::clamp<std::int64_t>(row.cores.value_or(0), 0, kMostCores));
    use.base_cores = places.divided
                         ? places.most_cores[{places.devices[id], places.sub_devices[id]}]
                         : static_cast<int>(std::clamp<std::int64_t>(row.worker_cores.value_or(0),
                                                                     0, kMostCores));
  }
  std::ranges::stable_sort(uses, std::greater(), &CallUse::time);
  for (std::size_t i = 0; i < uses.size() && emulator != nullptr; ++i) {
    CallUse& use = uses[i];
    const OpRow& row = calls.row(use.call);
    const chip::ChipProfile& chip = emulator->chip_of(row);
    if (!is_of(chip.architecture, row, run, places.devices[use.call])) {
      use.obstacle = Obstacle::other_chip;
      use.not_emulated = "another chip than the emulator's";
      continue;
    }
    if (!use.doubtful) set_peaks(use, chip);
    emulate(use, row, i < kMostEmulated, *emulator);
  }
  return uses;
}

}  // namespace howard::profiler
