// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/result.h"
#include "profiler/formats/log.h"

namespace howard::reports {

/// Returns for programs where the time of a log went, as timeline_tables() shows it to readers.
/// There is a result of each of these kinds, unless it has no points:
///
/// - log_devices has a point for each device of a run, with the metrics span, busy_time, idle_time,
///   idle_share, programs, gaps, and idle.CAUSE, whose sum is idle_time.
/// - log_ops has a point for each op, with the metrics time (of its kernels), runs, mean_time,
///   shortest_time, longest_time, share.
/// - log_gaps has a point for each pair of ops between which a device was idle, with the metrics
///   idle_time and gaps.
/// - log_sections has a point for each section between signposts, with the metrics time and runs.
/// - log_zones has a point for each op, RISC and zone of a device log, with the metrics time (the
///   sum over the cores of all its programs), entries, mean_time and longest_time.
/// - log_host_ops has a point for each op that ran on the host, with the metrics time and runs.
///
/// `name` is the file's name. What was left out of the log is among the warnings of the context. It
/// needs timelines without defects.
std::vector<harness::ExperimentResult> log_results(const profiler::Log& log,
                                                   const std::string& name,
                                                   harness::RunContext context);

}  // namespace howard::reports
