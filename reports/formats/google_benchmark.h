// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "harness/result.h"

namespace howard::reports {

/// Writes the results in Google Benchmark's JSON (json_schema_version 1), for the tools that read
/// it: its compare.py, github-action-benchmark, bencher. Each point with a time is a benchmark
/// called EXPERIMENT/ID, in nanoseconds. real_time and cpu_time are the same, because virtual time
/// knows no difference. A repeated measurement has an entry for each sample and the aggregate
/// "median". Metrics other than the time are user counters, in SI base units. A failed point has
/// error_occurred, and points that do not apply are left out.
std::string google_benchmark_json(std::span<const harness::ExperimentResult> results);

}  // namespace howard::reports
