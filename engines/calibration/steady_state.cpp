// SPDX-License-Identifier: Apache-2.0
#include "engines/calibration/steady_state.h"

#include <memory>
#include <utility>

#include "base/units.h"
#include "engines/wormhole/dispatch/simulation.h"

namespace howard::calibration {
namespace {

// The pattern repeats once the launch ring has been around. One that takes several steps to repeat
// averages out over those that are counted.
constexpr int kCounted = 4;

struct Steps {
  int settling = 0;
  std::uint64_t last_settling = 0;  ///< The number of a program.
};

Steps steps_of(const std::vector<wormhole::Launch>& step,
               const wormhole::SoftwareProfile& software) {
  const auto programs = static_cast<std::int64_t>(step.size());
  const auto settling = static_cast<int>(ceil_div(software.dispatch.launch_ring + 1, programs));
  return {settling, static_cast<std::uint64_t>(settling * programs)};
}

wormhole::SimulationLimits limits(const wormhole::SoftwareProfile& software, int issue_entries) {
  return {.issue_queue_entries = issue_entries,
          .launch_ring_entries = software.dispatch.launch_ring,
          .configuration_ring = software.dispatch.configuration_ring,
          .replay = software.dispatch.replay};
}

/// Returns the period of a step, from the end of the last settling one on, when these recordings
/// are replayed.
SimTime period(const std::vector<std::shared_ptr<const wormhole::Recording>>& replays,
               const Steps& steps, const wormhole::SoftwareProfile& software) {
  SimTime settled;
  SimTime end;
  wormhole::Simulation chip(
      limits(software, static_cast<int>(replays.size())),
      [&](std::uint64_t program, int, const wormhole::Launch&, const wormhole::LaunchTimes& times) {
        if (program == steps.last_settling) settled = times.kernel_end;
        end = times.kernel_end;
      });
  for (const auto& replay : replays) chip.issue(0, wormhole::Replay{replay}, SimTime());
  chip.drain(0);
  return SimTime::picoseconds((end - settled).ps() / kCounted);
}

}  // namespace

SimTime steady_period(const std::vector<wormhole::Launch>& step,
                      const wormhole::SoftwareProfile& software) {
  const Steps steps = steps_of(step, software);
  auto all = std::make_shared<wormhole::Recording>();
  for (int i = 0; i < steps.settling + kCounted; ++i) {
    all->insert(all->end(), step.begin(), step.end());
  }
  return period({std::move(all)}, steps, software);
}

SimTime replay_period(const std::vector<wormhole::Launch>& step,
                      const wormhole::SoftwareProfile& software) {
  const Steps steps = steps_of(step, software);
  const auto one = std::make_shared<const wormhole::Recording>(step);
  return period(std::vector(static_cast<std::size_t>(steps.settling + kCounted), one), steps,
                software);
}

SimTime lone_time(const wormhole::Launch& launch, const wormhole::SoftwareProfile& software) {
  wormhole::Simulation chip(limits(software, 1), [](std::uint64_t, int, const wormhole::Launch&,
                                                    const wormhole::LaunchTimes&) {});
  chip.issue(0, launch, SimTime());
  return chip.drain(0);
}

}  // namespace howard::calibration
