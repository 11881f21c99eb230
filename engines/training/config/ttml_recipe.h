// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/training/config/ttml_yaml.h"
#include "engines/training/recipe.h"

namespace howard::training {

// Every key is applied or refused by name, with its line. What is applied elsewhere: num_epochs
// needs the text; eval_config is what generates (generator.h); paths are the caller's.

/// The run that the files describe, on any number of devices (ttml_mesh.h). Error for a value that
/// TTML would not take, for settings that exclude each other and for what this trainer can not do.
Recipe recipe_of(const TtmlSettings& settings);

/// The rows of the token table: vocab_size in whole tiles, as a tokenizer of so many would have
/// them. Absent without vocab_size.
std::optional<std::int64_t> vocabulary_of(const TtmlConfig& config);

}  // namespace howard::training
