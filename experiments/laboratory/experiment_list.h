// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "harness/experiment.h"

namespace howard::experiments {

class DevBox;
struct Experiment;

using ExperimentList = std::vector<std::unique_ptr<harness::Experiment>>;

/// Holds an experiment and the points that it is to run.
struct PlannedExperiment {
  const harness::Experiment* experiment = nullptr;
  std::vector<harness::PointResult> points;
};

/// Makes an experiment on a box: the function of a file of the folder `experiments`.
using ExperimentMaker = Experiment (*)(const std::shared_ptr<const DevBox>& box);

/// Returns the maker of the experiment of that name, which must be one of this folder.
ExperimentMaker maker_of(std::string_view name);

/// Returns the questions that the emulator answers, in the order of the report, without tools.
ExperimentList emulated_experiments(const std::shared_ptr<const DevBox>& box);

/// Returns every experiment, in the order of the report. The box was made from constants.
ExperimentList all_experiments(const std::shared_ptr<const DevBox>& box);

}  // namespace howard::experiments
