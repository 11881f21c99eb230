// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "engines/models/language_model.h"

namespace howard::training {

/// Returns the share of labelled samples (SampleForm::labelled) whose label is the greatest logit
/// of the model, in whole batches of it; the rest of less than a batch is left out. Throws Error
/// for fewer samples than a batch.
double accuracy(Device& device, models::LanguageModel& model,
                std::span<const std::uint32_t> samples);

}  // namespace howard::training
