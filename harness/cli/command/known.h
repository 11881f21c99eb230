// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "experiments/laboratory/experiment_list.h"
#include "harness/cli/command/command.h"

namespace howard::cli {

/// Returns the experiments with these names; `all` stands for those that are not tools. Throws
/// UsageError for an unknown name, with a suggestion.
std::vector<const harness::Experiment*> select(const experiments::ExperimentList& list,
                                               const std::vector<std::string>& names);

/// Returns all experiments, to look up names and axes. They are made when first asked for.
const experiments::ExperimentList& known_experiments();

/// Says whether a word is the name of an experiment, or `all`.
bool is_experiment(const std::string& word);

/// Returns the axes of the experiments that are named after a command, each once. explain without a
/// name means a product, and so does tune, whose products have axes of their own.
std::vector<harness::Axis> axes_of(const Command& command, std::vector<std::string> names);

/// Returns the values that an axis can have: all its words if the list is closed, else its default
/// values.
std::vector<std::string> values_of(const harness::Axis& axis);

/// Returns the names of all experiments and commands.
std::vector<std::string> known_names(const experiments::ExperimentList& list);

}  // namespace howard::cli
