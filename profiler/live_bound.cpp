// SPDX-License-Identifier: Apache-2.0
#include "profiler/live_bound.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "profiler/bound.h"
#include "profiler/dispatch_gaps.h"
#include "profiler/timeline.h"

namespace howard::profiler {
namespace {

std::string longest_op(const Timeline& timeline) {
  std::vector<SimTime> times(timeline.names.size());
  for (const ProgramRun& run : timeline.programs) times[run.name] += run.kernel.duration();
  const auto longest = std::ranges::max_element(times) - times.begin();
  return std::string(timeline.names.name(static_cast<NameId>(longest)));
}

}  // namespace

std::optional<LiveBound> live_bound(std::span<const TimelineEvent> events) {
  const Timeline timeline = timeline_of(events);
  const std::vector<BusyLane> lanes = find_gaps(timeline, LaneKind::device);
  SimTime whole, busy;
  for (const BusyLane& lane : lanes) {
    whole += lane.span.duration();
    busy += lane.busy;
  }
  if (whole == SimTime()) return std::nullopt;
  const CauseTimes causes = time_by_cause(lanes);
  std::optional<GapCause> cause;
  SimTime most;
  for (std::size_t i = 0; i < kGapCauses; ++i) {
    const auto candidate = static_cast<GapCause>(i);
    if (causes[candidate] <= most) continue;
    cause = candidate;
    most = causes[candidate];
  }
  if (!cause || kernels_decide(busy.seconds(), whole.seconds())) {
    return LiveBound{.name = "kernels: " + longest_op(timeline),
                     .share = busy.seconds() / whole.seconds()};
  }
  return LiveBound{.name = std::string(name_of(*cause)), .share = most.seconds() / whole.seconds()};
}

}  // namespace howard::profiler
