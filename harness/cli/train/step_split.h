// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/events/timeline_event.h"
#include "base/sim_time.h"
#include "harness/result.h"
#include "profiler/step_times.h"

namespace howard::cli {

/// Sums the kernels of one emulated chip.
class KernelSums final : public EventSink {
 public:
  void record(const TimelineEvent& event) override;

  /// Returns the time of kernels that compute, since the last reset().
  SimTime compute() const { return compute_; }
  /// Returns the time of collectives, beside which nothing runs.
  SimTime exchange() const { return exchange_; }
  void reset() { compute_ = exchange_ = {}; }

 private:
  SimTime compute_, exchange_;
};

/// Says what one chip did in a step.
struct ChipSums {
  SimTime busy;  ///< The time in which it did not wait for messages.
  SimTime compute, exchange;
};

/// Returns where a step that took `step` went, as the mean over the chips.
profiler::StepTimes split_of(SimTime step, const std::vector<ChipSums>& chips);

/// Returns the parts of all steps as metrics: "step_time.compute" and so on.
std::vector<harness::Metric> split_metrics(const std::vector<profiler::StepTimes>& steps);

}  // namespace howard::cli
