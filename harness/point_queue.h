// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <mutex>
#include <span>
#include <vector>

#include "base/events/timeline_event.h"
#include "harness/result.h"

namespace howard::harness {

class RunObserver;

/// Holds the points of a run that can run anywhere and in any order, and their results. Any number
/// of threads may use it; calls run one at a time, and the observer is called under the same lock.
class PointQueue {
 public:
  /// Takes the `places` in `points` as its work. `ended` turns 1 at a place when its point has
  /// ended. All must outlive the queue.
  PointQueue(std::vector<PointResult>& points, std::vector<std::size_t> places,
             std::vector<char>& ended, RunObserver& observer);

  /// Returns the places of at most `most` next points; none if all are taken or the run is to stop.
  std::span<const std::size_t> take(std::size_t most);
  /// Returns how many points nobody has taken.
  std::size_t left() const;
  /// Returns a point of the plan. The thread that has taken it runs it.
  const PointResult& planned(std::size_t place) const { return points_[place]; }
  /// Notes that the point at this place has ended as `result`.
  void end(std::size_t place, PointResult result);
  /// Returns the sink for an iteration of the point that is to be recorded; null if none is.
  EventSink* trace_sink(const PointResult& point);

 private:
  std::vector<PointResult>& points_;
  std::vector<std::size_t> places_;
  std::vector<char>& ended_;
  RunObserver& observer_;
  mutable std::mutex mutex_;
  std::size_t next_ = 0;
};

}  // namespace howard::harness
