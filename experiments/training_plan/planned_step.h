// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "experiments/axes/axes.h"
#include "experiments/laboratory/devbox.h"
#include "experiments/training_plan/run_plan.h"
#include "harness/experiment.h"

namespace howard::experiments {

/// The metrics of the parts of a step begin so: "step_time.bubble".
inline constexpr const char* kStepTimes = "step_time.";

/// Says of a point what its step takes, in the words of all experiments that have one.
void describe(const RunPlan& plan, harness::PointResult& point);

/// Makes a case whose iterations are steps of TTML's training by `recipe`, in one batch each: on an
/// emulated chip those of a plan, and on the host by the point's engine. Throws Error where the
/// chip has no room for it.
std::unique_ptr<harness::Case> ttml_case(const DevBox& box, harness::Backend backend,
                                         const Point& point, const training::Recipe& recipe);

}  // namespace howard::experiments
