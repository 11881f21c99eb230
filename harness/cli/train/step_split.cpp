// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/train/step_split.h"

#include <fmt/format.h>

#include <cstddef>

#include "engines/program/program.h"
#include "harness/statistics.h"
#include "profiler/timeline.h"

namespace howard::cli {

using profiler::StepTimes;

void KernelSums::record(const TimelineEvent& event) {
  if (event.track.kind != TrackKind::sub_device || event.category != profiler::category::kKernel)
    return;
  const bool collective =
      event.name == AllGatherAttributes::kName || event.name == ReduceScatterAttributes::kName;
  (collective ? exchange_ : compute_) += event.end - event.start;
}

StepTimes split_of(SimTime step, const std::vector<ChipSums>& chips) {
  ChipSums sum;
  for (const ChipSums& chip : chips) {
    sum.busy += chip.busy;
    sum.compute += chip.compute;
    sum.exchange += chip.exchange;
  }
  const auto mean = [&](SimTime time) {
    return SimTime::picoseconds(time.ps() / std::ssize(chips));
  };
  return {.time = step,
          .compute = mean(sum.compute),
          .sums = {},
          .exchange = mean(sum.exchange),
          .bubble = step - mean(sum.busy)};
}

std::vector<harness::Metric> split_metrics(const std::vector<StepTimes>& steps) {
  std::vector<harness::Metric> metrics;
  for (std::size_t i = 0; i < StepTimes().parts().size(); ++i) {
    std::vector<double> samples;
    for (const StepTimes& step : steps) samples.push_back(step.parts().at(i).second.seconds());
    metrics.push_back({.name = fmt::format("step_time.{}", StepTimes().parts().at(i).first),
                       .value = harness::median(samples).value_or(0),
                       .unit = "s",
                       .samples = samples});
  }
  return metrics;
}

}  // namespace howard::cli
