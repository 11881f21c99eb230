// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/result.h"

namespace howard::reports {

/// Returns what matters most in a run, a sentence each: points that failed, and the published
/// figures that the emulator is farthest from.
std::vector<std::string> run_findings(std::span<const harness::ExperimentResult> results);

/// Returns the numbers of one experiment in sentences: how many points ran, the shortest and the
/// longest time, what bounds most of the points, which ops cost most, how far they are from
/// published figures, and how well times of these kinds are known.
std::vector<std::string> experiment_words(const harness::ExperimentResult& result);

/// Returns the command line that makes these points again, as far as the result knows it.
std::string command_of(const harness::ExperimentResult& result);

}  // namespace howard::reports
