// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engines/models/language_model.h"
#include "engines/training/recipe.h"
#include "engines/training/weights/safetensors.h"

namespace howard::training {

/// Holds what an import has left aside.
struct ImportedWeights {
  std::vector<std::string> unused;    ///< The tensors of the files that no rule takes.
  std::vector<std::string> unfilled;  ///< The parameters that no file has.
};

/// Writes the files' numbers into the parameters of `model`, which is that of `recipe`. The names
/// and the order of rows are those of Hugging Face's GPT-2 or Llama. Rows of the token table beyond
/// those of the file keep their values. Throws Error for a tensor of another shape.
ImportedWeights import_weights(CommandQueue& queue, models::LanguageModel& model,
                               const Recipe& recipe, std::span<const Safetensors> files);

/// Returns the parameters under Hugging Face's names, with its prefix, as tensors of a file: the
/// inverse.
std::map<std::string, WeightTensor> exported_weights(CommandQueue& queue,
                                                     models::LanguageModel& model,
                                                     const Recipe& recipe);

}  // namespace howard::training
