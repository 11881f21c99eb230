// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/events/timeline_event.h"
#include "base/sim_time.h"
#include "harness/axis.h"
#include "harness/presentation.h"
#include "harness/result.h"
#include "harness/what_if.h"

namespace howard::harness {

/// Represents a point of a sweep that is set up on its device and ready to be timed.
class Case {
 public:
  virtual ~Case() = default;

  /// Runs one iteration as the timing definition says, including its finish if it has one.
  virtual void run() = 0;
  /// Waits for everything that run() has left running.
  virtual void finish() = 0;
  /// Reads the clock on which iterations are timed: virtual or steady.
  virtual SimTime now() const = 0;
  virtual void set_trace_sink(EventSink* sink) = 0;

  /// Adds to `point`, which already holds the metric "time", what follows from the measured seconds
  /// of one iteration: throughput, share of peak, the plan in words.
  virtual void describe(double seconds, PointResult& point) const = 0;
};

/// Says why a point is left out although nothing is wrong: it has no meaning on this backend.
struct NotApplicable {
  std::string reason;
};

/// Says how many iterations run on the virtual clock: some warm up, and the mean of the timed ones
/// is the result. Without timed iterations nothing is measured on either backend: run() is called
/// once, and the point is what describe() says, without the metric "time".
struct VirtualTiming {
  int warmup = 0;
  int iterations = 1;
};

/// Holds a file that an experiment leaves beside its results.
struct Document {
  std::string file_name;  ///< The file's name in the folder of the results.
  std::string text;
};

/// Asks one question at many points. It is stateless: a case holds what a point needs.
class Experiment {
 public:
  virtual ~Experiment() = default;

  virtual std::string_view name() const = 0;      ///< The name on the command line: "matmul_sweep".
  virtual std::string_view question() const = 0;  ///< One line for `list`.
  /// Returns the axes on `backend`; none if the experiment has no meaning there.
  virtual std::vector<Axis> axes(Backend backend) const = 0;
  virtual VirtualTiming timing() const = 0;
  virtual Presentation presentation() const = 0;
  /// Returns what the names of the metrics begin with that are parts of a time that is worked out
  /// and not measured; empty if there are none.
  virtual std::string_view parts() const { return {}; }

  /// Sets a point up. Throws Error if it cannot run (memory, a bad combination of values).
  virtual std::variant<std::unique_ptr<Case>, NotApplicable> prepare(
      Backend backend, const Parameters& parameters) const = 0;

  /// Returns what may make an emulated point faster, for `explain`; none if the experiment knows of
  /// nothing.
  virtual std::vector<WhatIf> what_ifs(const Parameters& /*parameters*/) const { return {}; }

  /// Returns true for a tool about the emulator, which `all` leaves out because it asks no question
  /// of its own.
  virtual bool is_tool() const { return false; }

  /// Returns true if points use what other points have worked out, so that they must run one after
  /// the other, in order. Otherwise points on the virtual clock are prepared and run on several
  /// threads.
  virtual bool shares_work() const { return false; }

  /// Returns one line that a user wants to know before `points` run, as how long a tool takes;
  /// empty if there is nothing to say.
  virtual std::string forewarning(std::span<const PointResult> /*points*/) const { return {}; }

  /// Returns the files that follow from the points that have run.
  virtual std::vector<Document> documents() const { return {}; }
};

}  // namespace howard::harness
