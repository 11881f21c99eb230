// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "engines/training/config/ttml_yaml.h"
#include "engines/training/recipe.h"

namespace howard::training {

// Every key is applied, or refused by name with its line. Some are applied elsewhere: num_epochs
// needs the text, eval_config is for generating text (generator.h), and paths are the caller's.

/// Returns the run that the files describe, on any number of devices (ttml_mesh.h). Throws Error
/// for a value that TTML would not take, for settings that exclude each other and for what this
/// trainer cannot do.
Recipe recipe_of(const TtmlSettings& settings);

/// Returns the rows of the token table: vocab_size rounded up to whole tiles, as for a tokenizer of
/// that size. Returns nothing without vocab_size.
std::optional<std::int64_t> vocabulary_of(const TtmlConfig& config);

}  // namespace howard::training
