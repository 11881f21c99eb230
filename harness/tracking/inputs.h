// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "harness/tracking/run.h"

namespace howard::tracking {

/// Reads what a benchmark program has written, and says by itself which format it is:
///
/// - results of this program (howard.result/1) and virtual times (howard.times/1);
/// - runs of a database, one a line (howard.run/1);
/// - Google Benchmark's JSON: the real time and the counters, by repetition if there are several;
/// - hyperfine's JSON: the times of each command;
/// - pytest-benchmark's JSON: the time of each test, of all rounds if they are there;
/// - criterion: the messages of cargo criterion, or an estimates.json, by iteration;
/// - a list of objects with name, value and unit, as github-action-benchmark takes it;
/// - the text of Go's benchmarks: the time and the other metrics, by -count if that is above 1;
/// - nvbench's JSON: the mean GPU time of each state, or its mean CPU time;
/// - tt-metal's ops_perf_results CSV: the kernel time of each op on each shape.
///
/// Each file is one run of one process, unless it says otherwise. `source` names it in messages.
/// Throws Error for a text of another kind, or one that breaks the rules of its own.
std::vector<Run> parse_runs(std::string_view text, std::string_view source);

}  // namespace howard::tracking
