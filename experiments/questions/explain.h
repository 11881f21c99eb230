// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "experiments/laboratory/devbox.h"
#include "harness/experiment.h"
#include "reports/findings/explanation.h"

namespace howard::experiments {

/// Says whether an experiment can be explained: it times its points on the emulator, or works out
/// of what their time consists.
bool is_explained(const harness::Experiment& experiment);

/// Runs a point on the emulator as its experiment times it, with every program recorded, and then
/// once more with each change that the experiment knows, one at a time. A change that cannot run is
/// left out with the reason. Throws Error if the point itself cannot run, and once the box is to
/// stop. The experiment must be one that is_explained().
reports::Explanation explain(const DevBox& box, const harness::Experiment& experiment,
                             const harness::Parameters& parameters);

}  // namespace howard::experiments
