// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "harness/result.h"
#include "profiler/memory.h"
#include "reports/pictures/xy_chart.h"

namespace howard::reports {

/// Returns what a training run did at each step: its loss, learning rate and tokens per second, as
/// far as the result has them step by step (the samples of the metrics "loss", "learning_rate" and
/// "time"). Results that are no training have none.
std::vector<XyChart> training_charts(const harness::ExperimentResult& result);

/// Returns the memory in use over time; absent if nothing was recorded.
std::optional<XyChart> memory_chart(const profiler::MemoryUse& use);

}  // namespace howard::reports
