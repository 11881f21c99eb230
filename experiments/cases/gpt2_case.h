// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/models/gpt2.h"
#include "experiments/axes/axes.h"
#include "experiments/cases/python_case.h"
#include "experiments/cases/training_case.h"

namespace howard::experiments {

/// A head of the report's GPT-2 has so many columns.
inline constexpr std::int64_t kHeadColumns = 64;

/// Returns the report's GPT-2 of `layers` blocks and width `dim`, with heads of 64 columns and a
/// feed-forward part four times as wide. Throws Error if `dim` is not a multiple of 64.
models::Gpt2Options gpt2_options(std::int64_t batch, int layers, std::int64_t dim);

/// Returns a training step of the report's GPT-2. As published, its weights have grown to one for
/// each row of the batch.
std::unique_ptr<harness::Case> gpt2_case(const DevBox& box, const TrainingOptions& training,
                                         models::Gpt2Options options);

/// Prepares the case that a point describes by the axes engine, variant, layers, batch, those of
/// add_gpt2_sizes() and, on the host, dtype. The engine torch is PyTorch, which has only corrected
/// gradients and the report's sizes but for width, layers and batch.
PreparedCase prepare_gpt2(const DevBox& box, harness::Backend backend, const Point& point);

/// The width of the report's models, and the tokens that there are; not set, they are those of the
/// report and, of the second, the model's own.
extern const TypedAxis<std::int64_t> kGpt2Width, kVocabulary;

/// Adds the axes sequence, heads, ffn and vocabulary. Points that do not ask for them leave them
/// out.
void add_gpt2_sizes(std::vector<harness::Axis>& axes);
/// Returns the sizes of a point with axes batch and layers, and perhaps dim and those above. The
/// defaults are 256 tokens, heads of 64 columns, a feed-forward part four times as wide, and the
/// model's own vocabulary. Throws Error where the heads do not divide the width.
models::Gpt2Options gpt2_sizes(const Point& point);

/// Has `engines` as values, and on the host torch before them.
harness::Axis gpt2_engine_axis(harness::Backend backend, std::string meaning,
                               std::vector<std::string> engines);

/// Has as default the report's 32 sequences on the chip, and 4 on the host, on which a step takes
/// tenths of a second.
harness::Axis gpt2_batch_axis(harness::Backend backend);

/// Returns columns for `axes` and then for what a step is, and a chart called `title` with a bar
/// for each value of `bars`, in kinds of op. `timing` says how a step is timed.
harness::Presentation gpt2_presentation(std::string title, const std::vector<std::string>& axes,
                                        std::vector<std::string> bars,
                                        const harness::VirtualTiming& timing);

}  // namespace howard::experiments
