// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/calibration/steady_state.h"

#include <memory>
#include <utility>

#include "base/units.h"
#include "engines/chip/dispatch/simulation.h"

namespace howard::calibration {
namespace {

// The pattern repeats once the launch ring has been around. One that takes several steps to repeat
// averages out over those that are counted.
constexpr int kCounted = 4;

struct Steps {
  int settling = 0;
  std::uint64_t last_settling = 0;  ///< The number of a program.
};

Steps steps_of(const std::vector<chip::Launch>& step, const chip::SoftwareProfile& software) {
  const auto programs = static_cast<std::int64_t>(step.size());
  const auto settling = static_cast<int>(ceil_div(software.dispatch.launch_ring + 1, programs));
  return {settling, static_cast<std::uint64_t>(settling * programs)};
}

chip::SimulationLimits limits(const chip::SoftwareProfile& software, int issue_entries) {
  return {.issue_queue_entries = issue_entries,
          .launch_ring_entries = software.dispatch.launch_ring,
          .configuration_ring = software.dispatch.configuration_ring,
          .replay = software.dispatch.replay};
}

/// Returns the period of a step, from the end of the last settling one on, when these recordings
/// are replayed.
SimTime period(const std::vector<std::shared_ptr<const chip::Recording>>& replays,
               const Steps& steps, const chip::SoftwareProfile& software) {
  SimTime settled;
  SimTime end;
  chip::Simulation chip(
      limits(software, static_cast<int>(replays.size())),
      [&](std::uint64_t program, int, const chip::Launch&, const chip::LaunchTimes& times) {
        if (program == steps.last_settling) settled = times.kernel_end;
        end = times.kernel_end;
      });
  for (const auto& replay : replays) chip.issue(0, chip::Replay{replay}, SimTime());
  chip.drain(0);
  return SimTime::picoseconds((end - settled).ps() / kCounted);
}

}  // namespace

SimTime steady_period(const std::vector<chip::Launch>& step,
                      const chip::SoftwareProfile& software) {
  const Steps steps = steps_of(step, software);
  auto all = std::make_shared<chip::Recording>();
  for (int i = 0; i < steps.settling + kCounted; ++i) {
    all->insert(all->end(), step.begin(), step.end());
  }
  return period({std::move(all)}, steps, software);
}

SimTime replay_period(const std::vector<chip::Launch>& step,
                      const chip::SoftwareProfile& software) {
  const Steps steps = steps_of(step, software);
  const auto one = std::make_shared<const chip::Recording>(step);
  return period(std::vector(static_cast<std::size_t>(steps.settling + kCounted), one), steps,
                software);
}

SimTime lone_time(const chip::Launch& launch, const chip::SoftwareProfile& software) {
  chip::Simulation chip(limits(software, 1),
                        [](std::uint64_t, int, const chip::Launch&, const chip::LaunchTimes&) {});
  chip.issue(0, launch, SimTime());
  return chip.drain(0);
}

}  // namespace howard::calibration
