// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "experiments/devbox.h"
#include "harness/experiment.h"

namespace howard::experiments {

using ExperimentList = std::vector<std::unique_ptr<harness::Experiment>>;

std::unique_ptr<harness::Experiment> matmul_sweep(std::shared_ptr<const DevBox> box);
std::unique_ptr<harness::Experiment> core_grid(std::shared_ptr<const DevBox> box);
std::unique_ptr<harness::Experiment> two_queues(std::shared_ptr<const DevBox> box);

/// Every experiment, in the order of the report. A new one is one file and one line here.
ExperimentList all_experiments(const std::shared_ptr<const DevBox>& box);

}  // namespace howard::experiments
