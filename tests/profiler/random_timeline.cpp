// SPDX-License-Identifier: Apache-2.0
#include "tests/profiler/random_timeline.h"

#include <algorithm>
#include <array>
#include <random>

namespace howard::profiler::testing {
namespace {

class RandomTimeline {
 public:
  explicit RandomTimeline(std::uint32_t seed) : random_(seed) {}

  Timeline make() {
    const std::int64_t programs = number(1, 14);
    for (std::int64_t i = 0; i < programs; ++i) {
      // It uses neither std::shuffle nor the distributions, because they differ between libraries.
      timeline_.programs.push_back(program(static_cast<std::uint64_t>(i + 1)));
    }
    const std::int64_t activities = number(0, 12);
    for (std::int64_t i = 0; i < activities; ++i) {
      timeline_.activities.push_back(activity());
      if (!defects_of(timeline_).empty()) timeline_.activities.pop_back();
    }
    return std::move(timeline_);
  }

 private:
  std::int64_t number(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }
  std::uint16_t either() { return static_cast<std::uint16_t>(number(0, 1)); }

  ProgramRun program(std::uint64_t launch) {
    std::array<std::int64_t, 6> times{};
    for (std::int64_t& time : times) time = number(0, kRandomEnd);
    std::ranges::sort(times);
    ProgramRun run{.number = launch,
                   .name = timeline_.names.id(std::array{"matmul", "add", "exp"}[random_() % 3]),
                   .replay = static_cast<std::uint32_t>(number(0, 2)),
                   .device = either(),
                   .queue = either(),
                   .sub_device = either(),
                   .host_thread = either(),
                   .kernel = picoseconds(times[4], std::min(times[5], times[4] + 12))};
    if (number(0, 2) > 0) run.dispatch = picoseconds(times[2], times[3]);
    if (number(0, 2) > 0) run.host_call = picoseconds(times[0], times[number(0, 1) == 0 ? 1 : 5]);
    return run;
  }

  Activity activity() {
    const std::int64_t start = number(0, kRandomEnd);
    Activity activity{.device = either(),
                      .index = either(),
                      .span = picoseconds(start, number(start, std::min(start + 40, kRandomEnd)))};
    activity.occupation = static_cast<Occupation>(number(0, 4));
    if (activity.occupation == Occupation::event_wait) activity.place = TrackKind::dispatcher;
    if (activity.occupation == Occupation::profiler && either() == 1) {
      activity.place = TrackKind::sub_device;
    }
    return activity;
  }

  std::mt19937 random_;
  Timeline timeline_;
};

}  // namespace

Timeline random_timeline(std::uint32_t seed) { return RandomTimeline(seed).make(); }

Span picoseconds(std::int64_t start, std::int64_t end) {
  return {SimTime::picoseconds(start), SimTime::picoseconds(end)};
}

}  // namespace howard::profiler::testing
