// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/tracking/run.h"

namespace howard::tracking {

/// Runs thirty small benchmarks of the CPU and its first caches in this process: the suite by which
/// the gate measures itself. A row takes about a millisecond. Every tenth row, from the first,
/// really does `slowdown` more work: 0.05 is 5 %.
Run run_gate_suite(double slowdown);

/// Returns whether a row of that suite is one of those that `slowdown` concerns.
bool is_slowed(const Series& series);

}  // namespace howard::tracking
