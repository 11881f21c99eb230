// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "engines/models/model_options.h"

namespace howard::experiments {

/// Returns the sizes of a model of TTML's configuration files, for one sequence: nanollama3,
/// tinyllama, llama3_2_1b, llama8b. Throws Error for any other name.
models::ModelOptions llama_sizes_of(std::string_view model);

}  // namespace howard::experiments
