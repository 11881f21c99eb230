// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "engines/models/llama.h"
#include "experiments/workloads/training.h"

namespace howard::experiments {

/// The sizes of a model of TTML's configuration files, for one sequence: nanollama3, tinyllama,
/// llama3_2_1b, llama8b. Throws Error for any other name.
models::LlamaOptions llama_sizes_of(std::string_view model);

/// What updates the parameters.
enum class LlamaOptimizer {
  adamw,  ///< Of small ops, TTML's own.
  moreh,  ///< One program for a parameter.
  sgd,    ///< Whose steps are all the same.
};

/// TTML's training of a Llama, products at the highest fidelity.
Training train_llama(Device& device, const models::LlamaOptions& options, LlamaOptimizer optimizer);

}  // namespace howard::experiments
