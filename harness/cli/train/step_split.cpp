// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/train/step_split.h"

#include <utility>

#include "engines/program/program.h"
#include "harness/statistics.h"
#include "profiler/timeline.h"

namespace howard::cli {

void KernelSums::record(const TimelineEvent& event) {
  if (event.track.kind != TrackKind::sub_device || event.category != profiler::category::kKernel)
    return;
  const bool collective =
      event.name == AllGatherAttributes::kName || event.name == ReduceScatterAttributes::kName;
  (collective ? exchange_ : compute_) += event.end - event.start;
}

StepSplit split_of(SimTime step, const std::vector<ChipSums>& chips) {
  ChipSums sum;
  for (const ChipSums& chip : chips) {
    sum.busy += chip.busy;
    sum.compute += chip.compute;
    sum.exchange += chip.exchange;
  }
  const auto mean = [&](SimTime time) {
    return SimTime::picoseconds(time.ps() / std::ssize(chips));
  };
  StepSplit split{.compute = mean(sum.compute),
                  .exchange = mean(sum.exchange),
                  .bubble = step - mean(sum.busy),
                  .host = {}};
  split.host = step - split.compute - split.exchange - split.bubble;
  return split;
}

std::vector<harness::Metric> split_metrics(const std::vector<StepSplit>& steps) {
  std::vector<harness::Metric> metrics;
  for (const auto& [name, part] : {std::pair{"step_time.compute", &StepSplit::compute},
                                   {"step_time.exchange", &StepSplit::exchange},
                                   {"step_time.bubble", &StepSplit::bubble},
                                   {"step_time.host", &StepSplit::host}}) {
    std::vector<double> samples;
    for (const StepSplit& step : steps) samples.push_back((step.*part).seconds());
    metrics.push_back({.name = name,
                       .value = harness::median(samples).value_or(0),
                       .unit = "s",
                       .samples = samples});
  }
  return metrics;
}

}  // namespace howard::cli
