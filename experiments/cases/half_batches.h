// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "experiments/cases/training_case.h"

namespace howard::experiments {

/// Runs a step on half of a batch twice, at the same time. Each half has its own weights, half of
/// the cores, a queue and a host thread. The halves' gradients are not added, so this is the most
/// that two queues can gain. `make_half` is called for each half.
///
/// Throws Error for an engine other than static or traced, corrected. For the other engines not
/// every call is known before the step, so the threads' calls cannot be made in the order of their
/// clocks.
std::unique_ptr<harness::Case> half_batches(const DevBox& box, const TrainingOptions& options,
                                            const std::function<Training(Device&)>& make_half);

/// Returns half of a batch. Throws Error if it has no two equal halves of whole tiles.
std::int64_t half_of(std::int64_t batch);

}  // namespace howard::experiments
