// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "experiments/axes/axes.h"
#include "experiments/cases/training_case.h"
#include "harness/what_if.h"

namespace howard::experiments {

/// Returns a training step of the report's MLP, by the axes batch and dim, and by engine, variant,
/// layers, dtype and dispatch if the experiment has them. As published, the dynamic engine has the
/// calls of its own code; corrected, all engines have those of the static one.
std::unique_ptr<harness::Case> mlp_case(const DevBox& box, harness::Backend backend,
                                        const Point& point);

/// Returns what may make such a step faster.
std::vector<harness::WhatIf> mlp_what_ifs(const DevBox& box, const Point& point);

}  // namespace howard::experiments
