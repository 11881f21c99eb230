// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "base/events/timeline_event.h"
#include "harness/cli/terminal/rate.h"
#include "harness/cli/terminal/status_line.h"
#include "harness/result.h"
#include "profiler/event_recorder.h"

namespace howard::cli {

/// Shows a line on standard error that says how far a run is, how fast it goes and what bounds it:
///
///   matmul_sweep [######....] 7/18  3.1 points/s  12.3 TFLOPS, bound by unpack  emulated/shape:...
///   mlp_engines [##........] 2/12  412 iterations/s, bound by kernels: matmul 82 % host/engine:...
///
/// It is shown only on a terminal and only once a run has taken a moment, so that short runs stay
/// quiet.
class Progress {
 public:
  /// If `enabled` is false or there is no terminal, nothing is ever printed.
  Progress(std::string title, std::size_t total, bool enabled);

  /// Notes that a point has ended.
  void advance(const harness::PointResult& finished);
  /// Removes the line until the next point or iteration, because something else is printed.
  void pause() { line_.clear(); }
  /// Notes that an iteration of a wall-clock point has ended.
  void iterated(const harness::PointResult& running);
  /// Returns a sink for the events of a warm-up iteration, from which the next iterated() says what
  /// bounds its point; null if nobody would see it.
  EventSink* live_sink();

 private:
  bool is_due() const;
  void show(const std::string& rate, const std::string& point);

  std::string title_;
  std::size_t total_;
  std::size_t done_ = 0;
  StatusLine line_;
  Rate points_, iterations_;
  std::optional<profiler::EventRecorder> recorder_;
  bool has_events_ = false;  ///< True if there are events that were not looked at yet.
  std::string bound_;        ///< What bounds the point that is being iterated.
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace howard::cli
