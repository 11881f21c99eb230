// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/dispatch_gaps.h"
#include "profiler/formats/log.h"
#include "reports/findings/log_advice_report.h"
#include "reports/pictures/bar_picture.h"
#include "reports/pictures/map_chart.h"
#include "reports/pictures/stack_chart.h"
#include "reports/pictures/xy_chart.h"

namespace howard::reports {

/// These are the charts of a logged run, for pictures (log_plots.h) and for pages. Their titles end
/// with `of`, and those that have nothing to show are absent.

/// Returns the kernel time of the 15 ops that took the most.
std::optional<BarPicture> ops_chart(const profiler::LoggedRun& run, const std::string& of);

/// Returns the time of each lane by cause, busy time included.
std::optional<BarPicture> causes_chart(std::span<const profiler::BusyLane> lanes,
                                       profiler::LaneKind kind, const std::string& of);

/// Returns the idle share of a lane by cause, over its time in 60 equal parts.
std::optional<StackChart> idle_chart(const profiler::BusyLane& lane, const std::string& of);

/// Returns a lane from where its first runs are over: from the last program that ran for the first
/// time, or was compiled, of those that leave a quarter of the lane's programs. The lane is the
/// same if there is none.
profiler::BusyLane steady_part(const profiler::Timeline& timeline, const profiler::BusyLane& lane);

/// Returns the calls whose operations and bytes are known under the roof of the chip, a roof for
/// each fidelity. Those that take the most time have their names in the legend.
std::optional<XyChart> roofline_chart(const LogAdvice& advice, const std::string& of);

/// Returns for each device of a device log a map of its cores: the part of the time, from its first
/// program to its last, in which each ran kernels. Rows stand as on the chip, row 0 on top.
std::vector<MapChart> core_charts(const profiler::LoggedRun& run, const std::string& of);

}  // namespace howard::reports
