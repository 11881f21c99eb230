// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <mutex>
#include <span>
#include <vector>

#include "base/trace_event.h"
#include "harness/result.h"

namespace howard::harness {

struct RunHooks;

/// The points of a run that can run anywhere and in any order, and what has become of them. For any
/// number of threads, one call at a time; hooks are called under the same lock.
class PointQueue {
 public:
  /// Of the `places` in `points`; `ended` turns 1 there. All must outlive the queue.
  PointQueue(std::vector<PointResult>& points, std::vector<std::size_t> places,
             std::vector<char>& ended, const RunHooks& hooks);

  /// The places of the next points, `most` at most; none when all are taken or the run is to stop.
  std::span<const std::size_t> take(std::size_t most);
  /// How many nobody has taken.
  std::size_t left() const;
  /// A point of the plan, to be run by whoever has taken it.
  const PointResult& planned(std::size_t place) const { return points_[place]; }
  /// The point of this place has ended, as `result`.
  void end(std::size_t place, PointResult result);
  /// Where an iteration of the point is to be traced; null: nowhere.
  TraceSink* trace_sink(const PointResult& point);

 private:
  std::vector<PointResult>& points_;
  std::vector<std::size_t> places_;
  std::vector<char>& ended_;
  const RunHooks& hooks_;
  mutable std::mutex mutex_;
  std::size_t next_ = 0;
};

}  // namespace howard::harness
