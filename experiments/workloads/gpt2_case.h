// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/models/gpt2.h"
#include "experiments/workloads/python_case.h"
#include "experiments/workloads/training_case.h"

namespace howard::experiments {

/// Of a head of the report's GPT-2.
inline constexpr std::int64_t kHeadColumns = 64;

/// The report's GPT-2 of `layers` blocks and width `dim`: heads of 64 columns, a feed-forward part
/// four times as wide. Error when `dim` is not a multiple of 64.
models::Gpt2Options gpt2_options(std::int64_t batch, int layers, std::int64_t dim);

/// A training step of it. As published its weights have grown to one for each row of the batch.
std::unique_ptr<harness::Case> gpt2_case(const DevBox& box, const TrainingOptions& training,
                                         models::Gpt2Options options);

/// The same as the point says: axes engine, variant, layers, batch and, on the host, dtype. Engine
/// torch is PyTorch, which has only corrected gradients.
PreparedCase prepare_gpt2(const DevBox& box, harness::Backend backend,
                          const harness::Parameters& parameters, std::int64_t dim);

/// `engines`, and on the host torch before them.
harness::Axis gpt2_engine_axis(harness::Backend backend, std::string meaning,
                               std::vector<std::string> engines);

/// The report's 32 sequences on the chip; 4 on the host, for which a step takes tenths of a second.
harness::Axis gpt2_batch_axis(harness::Backend backend);

/// Columns for `axes`, then for what a step is; a chart called `title` with a bar for each value of
/// `bars`, in kinds of op.
harness::Presentation gpt2_presentation(std::string title, const std::vector<std::string>& axes,
                                        std::vector<std::string> bars);

}  // namespace howard::experiments
