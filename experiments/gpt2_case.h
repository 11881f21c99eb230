// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/models/gpt2.h"
#include "experiments/training_case.h"

namespace howard::experiments {

/// Of a head of the report's GPT-2.
inline constexpr std::int64_t kHeadColumns = 64;

/// The report's GPT-2 of `layers` blocks and width `dim`: heads of 64 columns, a feed-forward part
/// four times as wide. Error when `dim` is not a multiple of 64.
models::Gpt2Options gpt2_options(std::int64_t batch, int layers, std::int64_t dim);

/// A training step of it. As published its weights have grown to one for each row of the batch.
std::unique_ptr<harness::Case> gpt2_case(const DevBox& box, const TrainingOptions& training,
                                         models::Gpt2Options options);

/// The sizes as axes: the report's on the chip, small ones on the host.
harness::Axis gpt2_batch_axis(harness::Backend backend);

}  // namespace howard::experiments
