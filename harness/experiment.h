// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/sim_time.h"
#include "base/trace_event.h"
#include "harness/axis.h"
#include "harness/presentation.h"
#include "harness/result.h"
#include "harness/what_if.h"

namespace howard::harness {

/// One point of a sweep, set up on its device and ready to be timed.
class Case {
 public:
  virtual ~Case() = default;

  /// One iteration as the timing definition has it, its finish included where it has one.
  virtual void run() = 0;
  /// Waits for whatever run() has left running.
  virtual void finish() = 0;
  /// The clock the iterations are read from: virtual or steady.
  virtual SimTime now() const = 0;
  virtual void set_trace_sink(TraceSink* sink) = 0;

  /// Adds what follows from the measured seconds of one iteration (throughput, share of peak, the
  /// plan in words) to `point`, which already holds the metric "time".
  virtual void describe(double seconds, PointResult& point) const = 0;
};

/// Why a point is left out although nothing is wrong: it has no meaning on this backend.
struct NotApplicable {
  std::string reason;
};

/// How many iterations on the virtual clock: warm-up, then timed ones whose mean is the result.
/// With no timed iteration nothing is measured, on either backend: run() is called once, and the
/// point is what describe() says, without the metric "time".
struct VirtualTiming {
  int warmup = 0;
  int iterations = 1;
};

/// A file that an experiment leaves beside its results.
struct Document {
  std::string file_name;  ///< In the folder of the results.
  std::string text;
};

/// One question, asked at many points. Stateless: a case holds what a point needs.
class Experiment {
 public:
  virtual ~Experiment() = default;

  virtual std::string_view name() const = 0;      ///< "matmul_sweep", for the command line.
  virtual std::string_view question() const = 0;  ///< One line, for `list`.
  /// The axes on `backend`; none when the experiment has no meaning there.
  virtual std::vector<Axis> axes(Backend backend) const = 0;
  virtual VirtualTiming timing() const = 0;
  virtual Presentation presentation() const = 0;

  /// Sets a point up. Error when it can not run (memory, a bad combination of values).
  virtual std::variant<std::unique_ptr<Case>, NotApplicable> prepare(
      Backend backend, const Parameters& parameters) const = 0;

  /// What may make an emulated point faster, for `explain`; none: the experiment knows nothing.
  virtual std::vector<WhatIf> what_ifs(const Parameters& /*parameters*/) const { return {}; }

  /// True for a tool about the emulator instead of a question of its own: `all` leaves it out.
  virtual bool is_tool() const { return false; }

  /// True when points use what other points have worked out, and so run one after the other, in
  /// order. Otherwise points on the virtual clock are prepared and run on several threads at once.
  virtual bool shares_work() const { return false; }

  /// What a user wants to know before `points` run, one line: how long a tool takes. Empty:
  /// nothing.
  virtual std::string forewarning(std::span<const PointResult> /*points*/) const { return {}; }

  /// Files that follow from the points that have run.
  virtual std::vector<Document> documents() const { return {}; }
};

}  // namespace howard::harness
