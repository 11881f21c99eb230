// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engines/models/model_options.h"

namespace howard::language {

/// A tensor of Hugging Face's files that is, or is a part of, a parameter.
struct WeightSource {
  std::string name;         ///< Without the prefix that some files have.
  std::int64_t rows = 0;    ///< The parameter's rows; for the token table, the file's.
  bool transposed = false;  ///< Stored [in, out].
  /// Rotary positions rotate columns i and i + d/2 in the file, and 2i and 2i + 1 in TTML: the rows
  /// of each of this many heads change places, or the columns of a row. 0 means that they do not.
  int paired_heads = 0;
};

/// Says where the values of a parameter come from: its rows, one source after the other.
struct WeightRule {
  std::string parameter;
  std::vector<WeightSource> sources;
  bool is_padded = false;  ///< It has more rows than the file; these keep their values.
};

/// Returns what Hugging Face puts before names of its models: "model." or "transformer.".
std::string weight_prefix(const models::ModelOptions& options);

/// Returns the rules of a model, one for each parameter.
std::vector<WeightRule> weight_rules(const models::ModelOptions& options);

}  // namespace howard::language
