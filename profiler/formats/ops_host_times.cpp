// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/ops_host_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>

namespace howard::profiler {
namespace {

/// Replays whose programs were called before what already ran repeat the times of their capture.
void remove_calls_of_captures(std::span<ProgramRun> programs) {
  SimTime latest = SimTime::picoseconds(std::numeric_limits<std::int64_t>::min());
  for (ProgramRun& program : programs) {
    if (!program.host_call) continue;
    const SimTime called = program.host_call->start;
    if (program.replay > 0 && called < latest) {
      program.host_call.reset();
    } else {
      latest = std::max(latest, called);
    }
  }
}

/// A pair of each few programs: of neighbours, the one that started soonest after its call says
/// most.
std::vector<ClockPair> clock_pairs(std::span<const ProgramRun> programs) {
  constexpr std::size_t kMostPairs = 16'384;
  const std::size_t block = programs.size() / kMostPairs + 1;
  std::vector<ClockPair> pairs;
  for (std::size_t first = 0; first < programs.size(); first += block) {
    std::optional<ClockPair> soonest;
    for (const ProgramRun& program :
         programs.subspan(first, std::min(block, programs.size() - first))) {
      if (!program.host_call) continue;
      const ClockPair pair{program.host_call->start, program.kernel.start};
      if (!soonest || pair.device - pair.host < soonest->device - soonest->host) soonest = pair;
    }
    if (soonest) pairs.push_back(*soonest);
  }
  return pairs;
}

}  // namespace

void align_host_times(std::span<ProgramRun> programs, LoggedDevice& device,
                      std::vector<std::string>& notes) {
  remove_calls_of_captures(programs);
  const std::vector<ClockPair> pairs = clock_pairs(programs);
  if (pairs.empty()) return;
  device.host_clock = align_clocks(pairs);
  if (!device.host_clock) {
    notes.push_back(fmt::format(
        "device {}: the host's times do not fit the device's cycles ({}), so that what the host "
        "did in a gap is not known",
        device.id,
        pairs.size() < 3 ? "there are fewer than three"
                         : "no two clocks that differ by less than 10 % tell both"));
  }
  for (ProgramRun& program : programs) {
    if (!program.host_call) continue;
    if (!device.host_clock) {
      program.host_call.reset();
      continue;
    }
    const SimTime start = device.host_clock->device_time(program.host_call->start);
    const SimTime end = device.host_clock->device_time(program.host_call->end);
    // The line is drawn below the starts, but for those that it was found to be better without.
    program.host_call = {std::min(start, program.kernel.start), end};
    program.host_call->end = std::clamp(end, program.host_call->start, program.kernel.start);
  }
}

}  // namespace howard::profiler
