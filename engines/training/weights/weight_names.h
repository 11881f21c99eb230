// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engines/training/recipe.h"

namespace howard::training {

/// A tensor of Hugging Face's files that is, or is a part of, a parameter.
struct WeightSource {
  std::string name;         ///< Without the prefix that some files have.
  std::int64_t rows = 0;    ///< Of the parameter; of the token table those of the file.
  bool transposed = false;  ///< Stored [in, out].
  /// Rotary positions turn columns i and i + d/2 there, 2i and 2i + 1 in TTML: the rows of each of
  /// so many heads change places. 0: they do not.
  int paired_heads = 0;
};

/// Where the values of a parameter come from: its rows one source after the other.
struct WeightRule {
  std::string parameter;
  std::vector<WeightSource> sources;
  bool is_padded = false;  ///< More rows than the file has, which keep what they are.
};

/// What Hugging Face puts before names of its models: "model." or "transformer.".
std::string weight_prefix(const Recipe& recipe);

/// The rules of a recipe's model, one for each parameter.
std::vector<WeightRule> weight_rules(const Recipe& recipe);

}  // namespace howard::training
