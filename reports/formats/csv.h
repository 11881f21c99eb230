// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "base/file.h"
#include "harness/result.h"

namespace howard::reports {

/// Writes the results as CSV (quoted as RFC 4180 says, lines ended by LF): a header, then one row
/// for each point and metric, in SI base units. The columns are: experiment, backend, each axis of
/// any of the experiments, metric, value, unit, n (samples; 0 for an exact value), median,
/// ci95_low, ci95_high, noise (exact or sampled), reference_value, reference_status and
/// relative_error (of the metric to which the published figure belongs), each fact in words of any
/// point (matmul_config, bound_by) except one that is an axis elsewhere, and skipped. A point
/// without metrics has one row, with its reason in the last column.
std::string csv(std::span<const harness::ExperimentResult> results);

/// Does the same and hands the text over point by point.
void write_csv(std::span<const harness::ExperimentResult> results, const TextSink& sink);

}  // namespace howard::reports
