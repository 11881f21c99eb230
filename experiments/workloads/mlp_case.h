// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "experiments/workloads/axes.h"
#include "experiments/workloads/training_case.h"
#include "experiments/workloads/what_ifs.h"

namespace howard::experiments {

/// The value of an axis of the point, or what experiments without that axis have.
std::string_view parameter_or(const harness::Parameters& parameters, std::string_view axis,
                              std::string_view otherwise);

/// What axes engine, variant, dispatch, grid, fused and queues say; without them the dynamic
/// engine, as published, under WORKER dispatch.
TrainingOptions training_options(harness::Backend backend, const harness::Parameters& parameters);

/// What axis dtype says; without it bfloat16 parameters on the chip, as published, and float32 ones
/// on the host.
TrainingTypes training_types(harness::Backend backend, const harness::Parameters& parameters);

/// A training step of the report's MLP: axes batch and dim, and engine, variant, layers, dtype and
/// dispatch where the experiment has them. As published, the dynamic engine has the calls of its
/// own code; corrected, all engines have those of the static one.
std::unique_ptr<harness::Case> mlp_case(const DevBox& box, harness::Backend backend,
                                        const harness::Parameters& parameters);

/// What may make a step of it faster.
std::vector<harness::WhatIf> mlp_what_ifs(const DevBox& box, const harness::Parameters& parameters);

}  // namespace howard::experiments
