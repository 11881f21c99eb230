// SPDX-License-Identifier: Apache-2.0
#include "harness/point_queue.h"

#include <algorithm>
#include <utility>

#include "harness/run_observer.h"

namespace howard::harness {

PointQueue::PointQueue(std::vector<PointResult>& points, std::vector<std::size_t> places,
                       std::vector<char>& ended, RunObserver& observer)
    : points_(points), places_(std::move(places)), ended_(ended), observer_(observer) {}

std::span<const std::size_t> PointQueue::take(std::size_t most) {
  const std::scoped_lock lock(mutex_);
  if (observer_.stop()) return {};
  const std::size_t count = std::min(most, places_.size() - next_);
  const std::span<const std::size_t> taken = std::span(places_).subspan(next_, count);
  next_ += count;
  return taken;
}

std::size_t PointQueue::left() const {
  const std::scoped_lock lock(mutex_);
  return places_.size() - next_;
}

void PointQueue::end(std::size_t place, PointResult result) {
  const std::scoped_lock lock(mutex_);
  points_[place] = std::move(result);
  ended_[place] = 1;
  observer_.point_done(place, points_[place]);
}

EventSink* PointQueue::trace_sink(const PointResult& point) {
  const std::scoped_lock lock(mutex_);
  return observer_.trace_sink(point);
}

}  // namespace howard::harness
