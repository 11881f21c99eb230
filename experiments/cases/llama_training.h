// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "engines/models/llama.h"
#include "experiments/cases/training.h"

namespace howard::experiments {

/// Returns the sizes of a model of TTML's configuration files, for one sequence: nanollama3,
/// tinyllama, llama3_2_1b, llama8b. Throws Error for any other name.
models::ModelOptions llama_sizes_of(std::string_view model);

/// Says what updates the parameters.
enum class LlamaOptimizer {
  adamw,  ///< TTML's own, made of small ops.
  moreh,  ///< One program for a parameter.
  sgd,    ///< Its steps are all the same.
};

/// Trains a Llama as TTML does, with products at the highest math fidelity.
Training train_llama(Device& device, const models::ModelOptions& options, LlamaOptimizer optimizer);

}  // namespace howard::experiments
