// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "experiments/workloads/devbox.h"
#include "harness/experiment.h"

namespace howard::experiments {

/// Shows what several chips make of a Llama's training step.
std::unique_ptr<harness::Experiment> parallel(std::shared_ptr<const DevBox> box);

}  // namespace howard::experiments
