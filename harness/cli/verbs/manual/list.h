// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "experiments/laboratory/experiment_list.h"

namespace howard::cli {

/// Returns the experiments with these names; `all` stands for those that are not tools. Throws
/// UsageError for an unknown name, with a suggestion.
std::vector<const harness::Experiment*> select(const experiments::ExperimentList& list,
                                               const std::vector<std::string>& names);

/// Returns everything that a user needs to run an experiment: its question, axes, timing, published
/// rows and examples.
std::string description(const harness::Experiment& experiment);

/// Runs `list [PATTERN...] [--json FILE]`. It prints a line for each experiment and command, or for
/// those whose names the regular expressions find, and the description of a whole name.
int list(int argc, const char* const* argv);

}  // namespace howard::cli
