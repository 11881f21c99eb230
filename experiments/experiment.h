// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "experiments/axes/axes.h"
#include "experiments/laboratory/devbox.h"
#include "harness/experiment.h"
#include "reports/tables/table.h"

namespace howard::experiments {

using Box = std::shared_ptr<const DevBox>;

/// Holds a point that is ready to be timed, or says why it is left out.
using Prepared = std::variant<std::unique_ptr<harness::Case>, harness::NotApplicable>;

/// Is one question as a value. A file of this folder has a function of its own name that returns
/// it; the build finds the file, and lists, documents and completion have the experiment.
struct Experiment {
  std::string_view name;
  std::string_view question;  ///< One line for `list`.
  /// It is a tool about the emulator, which `all` leaves out because it asks no question of its
  /// own.
  bool is_tool = false;
  /// Its points use what other points have worked out, so they run one after the other.
  bool shares_work = false;

  std::vector<harness::Axis> axes = {};       ///< Of emulated points; none: nothing is emulated.
  std::vector<harness::Axis> host_axes = {};  ///< Of points on the host.
  /// By default nothing is timed: each point is worked out once.
  harness::VirtualTiming timing = {.warmup = 0, .iterations = 0};
  harness::Presentation presentation = {};
  /// The metrics of the parts of a time that is worked out begin so: `explain` shows them.
  std::string_view parts = {};

  std::function<Prepared(harness::Backend, const Point&)> prepare;
  /// What may make an emulated point faster, for `explain`.
  std::function<std::vector<harness::WhatIf>(const Point&)> what_ifs = {};
  /// One line that a user wants to know before the points run.
  std::function<std::string(std::span<const harness::PointResult>)> forewarning = {};
  /// The files that follow from the points that have run.
  std::function<std::vector<harness::Document>()> documents = {};
  /// What a page shows besides the points.
  std::function<std::vector<reports::Table>()> page_tables = {};
};

/// Returns a time of the virtual clock as a metric.
inline harness::Metric exact_time(std::string name, SimTime time) {
  return {.name = std::move(name), .value = time.seconds(), .unit = "s", .virtual_time = time};
}

/// Returns the experiment as the harness runs it on `box`. Points whose dispatch the chip of the
/// box does not have are left out.
std::unique_ptr<harness::Experiment> runnable(Experiment experiment, const Box& box);

/// Makes a case that works a point out without timing it. `work` fills the metrics and details.
std::unique_ptr<harness::Case> finding(std::function<void(harness::PointResult&)> work);

}  // namespace howard::experiments
