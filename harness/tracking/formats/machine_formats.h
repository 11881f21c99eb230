// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "harness/tracking/comparison/comparison.h"
#include "harness/tracking/run.h"

namespace howard::tracking {

// These functions return what other programs read. Times are in nanoseconds where a format has no
// unit of its own.

/// Returns a comparison as JUnit XML: a test case for each judged row. Slower, missing and new rows
/// are failures, failed ones errors, ambiguous ones skipped.
std::string junit_xml(const Comparison& comparison);

/// Returns runs as JUnit XML: a suite for each experiment or program, a test case for each
/// benchmark with its time and its metrics. Failed benchmarks are errors, skipped ones skipped.
std::string junit_xml(std::span<const Run> runs);

/// Returns a comparison as the Markdown of a GitHub step summary: a headline, the tables of what
/// was found, and what was compared. Long tables are cut, because GitHub takes one MiB.
std::string github_summary(const Comparison& comparison);

/// Returns GitHub's workflow commands, one a line: an error for each row that is slower, failed or
/// missing, a warning for ambiguous ones, a notice for others that moved. GitHub shows ten of each
/// kind; a last line counts the others.
std::string github_annotations(const Comparison& comparison);

/// Returns an error for each benchmark that failed.
std::string github_annotations(std::span<const Run> runs);

/// Returns the rows as github-action-benchmark's customSmallerIsBetter or customBiggerIsBetter,
/// which take those of one direction each.
std::string action_benchmark_json(std::span<const Run> runs, harness::Better better);

/// Returns the rows as Bencher Metric Format. The measure of a time is "latency", as Bencher calls
/// it.
std::string bencher_json(std::span<const Run> runs);

/// Returns the rows as OpenMetrics text: a gauge for each metric, labelled by benchmark.
std::string openmetrics_text(std::span<const Run> runs);

}  // namespace howard::tracking
