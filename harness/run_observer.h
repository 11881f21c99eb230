// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "base/events/timeline_event.h"
#include "harness/result.h"

namespace howard::harness {

/// Hears how a run goes and answers what it asks. Whoever starts a run overrides what concerns it;
/// the default is to run everything and to record nothing. The functions are called from any of the
/// run's threads, one call at a time.
class RunObserver {
 public:
  RunObserver() = default;
  RunObserver(const RunObserver&) = delete;
  RunObserver& operator=(const RunObserver&) = delete;
  virtual ~RunObserver() = default;

  /// Returns true once the user wants to stop. It is asked between points and between repetitions.
  virtual bool stop() { return false; }
  /// Is called when a point has ended, with its place in the plan, in the order in which points
  /// end. The point stays where it is until all have ended.
  virtual void point_done(std::size_t /*index*/, const PointResult& /*point*/) {}
  /// Is called once, if there are both kinds of points, when all points on the virtual clock have
  /// ended and `count` points on the wall clock follow.
  virtual void wall_follows(std::size_t /*count*/) {}

  /// Returns a sink for the last warm-up iteration of each repetition of a point on the wall clock;
  /// null if it is not recorded.
  virtual EventSink* warm_up_sink() { return nullptr; }
  /// Is called when an iteration of a point on the wall clock has ended.
  virtual void iterated(const PointResult& /*point*/) {}

  /// Returns a sink for one more, untimed iteration of a point; null if there is to be no such
  /// iteration.
  virtual EventSink* trace_sink(const PointResult& /*point*/) { return nullptr; }
  /// Returns a sink for iterations that measure what recording costs a recorded point on the wall
  /// clock; null if that is not measured.
  virtual EventSink* scratch_sink() { return nullptr; }
  /// Is called with that cost, as a share of an iteration.
  virtual void recording_cost(const PointResult& /*point*/, double /*share*/) {}
};

}  // namespace howard::harness
