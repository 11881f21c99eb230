// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/events/timeline_event.h"
#include "base/sim_time.h"
#include "harness/result.h"

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

/// Says where the time of a step on several emulated chips goes, as the mean over them.
struct StepSplit {
  SimTime compute;
  SimTime exchange;  ///< Collectives.
  SimTime bubble;    ///< A chip waits for other stages, or for other ranks of tiers.
  SimTime host;      ///< The rest: calls, transfers between chip and host, and gaps.
};

/// Says what one chip did in a step.
struct ChipSums {
  SimTime busy;  ///< The time in which it did not wait for messages.
  SimTime compute, exchange;
};

/// Returns the split of a step that took `step`.
StepSplit split_of(SimTime step, const std::vector<ChipSums>& chips);

/// Returns the parts of all steps as metrics: "step_time.compute" and so on.
std::vector<harness::Metric> split_metrics(const std::vector<StepSplit>& steps);

}  // namespace howard::cli
