// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/result.h"
#include "profiler/formats/log.h"

namespace howard::reports {

/// Where the time of a log went, for programs; what timeline_tables() shows to readers. A result of
/// each kind, but for those without points:
///
/// - log_devices: a point for each device of a run. Metrics span, busy_time, idle_time, idle_share,
///   programs, gaps, and idle.CAUSE, whose sum is idle_time.
/// - log_ops: for each op. Metrics time (of its kernels), runs, mean_time, shortest_time,
///   longest_time, share.
/// - log_gaps: for each pair of ops between which a device was idle. Metrics idle_time, gaps.
/// - log_sections: for each section between signposts. Metrics time, runs.
/// - log_host_ops: for each op that ran on the host. Metrics time, runs.
///
/// `name` is the file's. What was left out of the log is among the warnings of the context. Needs
/// timelines without defects.
std::vector<harness::ExperimentResult> log_results(const profiler::Log& log,
                                                   const std::string& name,
                                                   harness::RunContext context);

}  // namespace howard::reports
