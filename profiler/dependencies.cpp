// SPDX-License-Identifier: Apache-2.0
#include "profiler/dependencies.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace howard::profiler {
namespace {

using Index = std::uint32_t;
/// Holds programs by one of their times, in order.
using ByTime = std::vector<std::pair<SimTime, Index>>;

/// Returns the first one at `time` or later.
std::optional<Index> first_from(const ByTime& programs, SimTime time) {
  const auto found = std::ranges::lower_bound(programs, time, {}, &ByTime::value_type::first);
  return found == programs.end() ? std::nullopt : std::optional(found->second);
}

/// Returns the last one up to `time`.
std::optional<Index> last_until(const ByTime& programs, SimTime time) {
  const auto after = std::ranges::upper_bound(programs, time, {}, &ByTime::value_type::first);
  return after == programs.begin() ? std::nullopt : std::optional(std::prev(after)->second);
}

class Waits {
 public:
  explicit Waits(const Timeline& timeline) : programs_(timeline.programs) {
    std::vector<Index> order(programs_.size());
    for (Index i = 0; i < order.size(); ++i) order[i] = i;
    // The programs of one replay share a call. The first of them to run is the one that waited.
    std::ranges::stable_sort(order, {}, [&](Index i) { return programs_[i].kernel.start; });
    for (const Index i : order) {
      const ProgramRun& program = programs_[i];
      ended_.emplace_back(program.kernel.end, i);
      if (program.dispatch) {
        dispatched_[{program.device, program.queue}].emplace_back(program.dispatch->start, i);
      }
      if (program.host_call) {
        called_[program.host_thread].emplace_back(program.host_call->start, i);
      }
    }
    const auto sort = [](ByTime& list) {
      std::ranges::stable_sort(list, {}, &ByTime::value_type::first);
    };
    sort(ended_);
    for (auto& [queue, list] : dispatched_) sort(list);
    for (auto& [thread, list] : called_) sort(list);
  }

  std::optional<Dependency> of(const Activity& activity) const {
    const SimTime over = activity.span.end;
    std::optional<Index> after;
    if (activity.occupation == Occupation::event_wait) {
      const auto queue = dispatched_.find({activity.device, activity.index});
      if (queue != dispatched_.end()) after = first_from(queue->second, over);
    } else if (activity.occupation == Occupation::finish ||
               activity.occupation == Occupation::transfer) {
      const auto thread = called_.find(activity.index);
      if (thread != called_.end()) after = first_from(thread->second, over);
    }
    const auto before = last_until(ended_, over);
    if (!before || !after) return std::nullopt;
    // The clocks of host and device may differ by a little.
    if (programs_[*before].kernel.start >= programs_[*after].kernel.start) return std::nullopt;
    return Dependency{*before, *after};
  }

 private:
  const std::vector<ProgramRun>& programs_;
  ByTime ended_;
  std::map<std::pair<std::uint16_t, std::uint16_t>, ByTime>
      dispatched_;                          ///< Keys are device and queue.
  std::map<std::uint16_t, ByTime> called_;  ///< Keys are host threads.
};

}  // namespace

std::vector<Dependency> dependencies_of(const Timeline& timeline) {
  const Waits waits(timeline);
  std::vector<Dependency> found;
  for (const Activity& activity : timeline.activities) {
    if (const auto dependency = waits.of(activity)) found.push_back(*dependency);
  }
  return found;
}

}  // namespace howard::profiler
