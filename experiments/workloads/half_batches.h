// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "experiments/workloads/training_case.h"

namespace howard::experiments {

/// A step on half of a batch twice, at the same time: each half with weights, half of the cores, a
/// queue and a host thread of its own. The halves' gradients are not added, so that this is the
/// most that two queues can gain. `make_half` is called for each half.
///
/// Error for another engine than static or traced, corrected: of the others not every call is known
/// before the step, so that the threads' calls cannot be made in the order of their clocks.
std::unique_ptr<harness::Case> half_batches(const DevBox& box, const TrainingOptions& options,
                                            const std::function<Training(Device&)>& make_half);

/// Half of a batch. Error when it has no two equal halves of whole tiles.
std::int64_t half_of(std::int64_t batch);

}  // namespace howard::experiments
