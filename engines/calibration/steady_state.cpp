// SPDX-License-Identifier: Apache-2.0
#include "engines/calibration/steady_state.h"

#include <memory>
#include <utility>

#include "base/units.h"
#include "engines/wormhole/dispatch/simulation.h"

namespace howard::calibration {
namespace {

wormhole::SimulationLimits limits(const wormhole::SoftwareProfile& software, int issue_entries) {
  return {.issue_queue_entries = issue_entries,
          .launch_ring_entries = software.dispatch.launch_ring,
          .configuration_ring = software.dispatch.configuration_ring};
}

}  // namespace

SimTime steady_period(std::vector<wormhole::Launch> step,
                      const wormhole::SoftwareProfile& software) {
  // The pattern repeats once the launch ring has been filled. A pattern that takes several steps to
  // repeat averages out over the steps that are counted.
  constexpr int kCounted = 4;
  const auto programs = static_cast<std::int64_t>(step.size());
  const auto settling = static_cast<int>(ceil_div(software.dispatch.launch_ring + 1, programs));
  const auto last_settling = static_cast<std::uint64_t>(settling * programs);
  SimTime settled;
  SimTime end;
  wormhole::Simulation chip(
      limits(software, settling + kCounted),
      [&](std::uint64_t program, int, const wormhole::Launch&, const wormhole::LaunchTimes& times) {
        if (program == last_settling) settled = times.kernel_end;
        end = times.kernel_end;
      });
  const auto recording = std::make_shared<const wormhole::Recording>(std::move(step));
  for (int i = 0; i < settling + kCounted; ++i) {
    chip.issue(0, wormhole::Replay{recording}, SimTime());
  }
  chip.drain(0);
  return SimTime::picoseconds((end - settled).ps() / kCounted);
}

SimTime lone_time(const wormhole::Launch& launch, const wormhole::SoftwareProfile& software) {
  wormhole::Simulation chip(limits(software, 1), [](std::uint64_t, int, const wormhole::Launch&,
                                                    const wormhole::LaunchTimes&) {});
  chip.issue(0, launch, SimTime());
  return chip.drain(0);
}

}  // namespace howard::calibration
