// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "experiments/all.h"

namespace howard::cli {

/// All experiments, on a box that is never switched on: for what they say of themselves.
experiments::ExperimentList experiments_to_describe();

/// The experiments of these names, `all` standing for those that are no tools. UsageError for an
/// unknown one, with a suggestion.
std::vector<const harness::Experiment*> select(const experiments::ExperimentList& list,
                                               const std::vector<std::string>& names);

/// Everything a user needs to run an experiment: its question, axes, timing, published rows and
/// examples.
std::string description(const harness::Experiment& experiment);

/// `list [PATTERN...] [--json FILE]`: a line for each experiment and command, or those whose names
/// the regular expressions find; for a whole name, its description.
int list(int argc, const char* const* argv);

}  // namespace howard::cli
