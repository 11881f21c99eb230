// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engines/models/model_options.h"

namespace howard::language {

/// Holds a model as the config.json beside its weights describes it.
struct HuggingFaceModel {
  models::ModelOptions options;     ///< For one sequence of the longest length, without dropout.
  std::int64_t vocabulary = 0;      ///< The rows of the token table in the file of weights.
  std::vector<std::uint32_t> ends;  ///< The tokens that end a text.
};

/// Reads a config.json of a Llama, a Qwen3 or a GPT-2. `source` names the file in messages. Throws
/// Error, naming the key, for a text that is no such JSON, for another model_type, for a size that
/// is missing or out of range, and for what TTML's models do not have: biases in a Llama, heads of
/// another width, an epsilon other than 1e-5, and rotary scalings other than llama3's.
HuggingFaceModel parse_hugging_face_config(std::string_view json, const std::string& source);

}  // namespace howard::language
