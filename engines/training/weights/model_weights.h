// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engines/language/weights/safetensors.h"
#include "engines/models/language_model.h"
#include "engines/training/checkpoint.h"
#include "engines/training/recipe.h"

namespace howard::training {

/// The name and the sizes of a parameter of a whole model, a matrix.
struct ParameterShape {
  std::string name;
  std::int64_t rows = 0, columns = 0;
};

/// Holds what an import has left aside.
struct ImportedWeights {
  std::vector<std::string> unused;    ///< The tensors of the files that no rule takes.
  std::vector<std::string> unfilled;  ///< The parameters that no file has.
};

/// Takes the values of a parameter, row by row. A token table or a head may have fewer rows in the
/// files than in the model; its other rows keep their values.
using TakeWeights =
    std::function<void(const ParameterShape& parameter, std::span<const float> values)>;

/// Reads the values of these parameters, which are those of `recipe`, one after the other. The
/// names and the order of rows in the files are those of Hugging Face's GPT-2 or Llama. Throws
/// Error for a tensor of another shape.
ImportedWeights import_weights(std::span<const ParameterShape> parameters, const Recipe& recipe,
                               std::span<const language::Safetensors> files,
                               const TakeWeights& take);

/// Writes the values of the files into the parameters of `model`, which is that of `recipe`.
ImportedWeights import_weights(CommandQueue& queue, models::LanguageModel& model,
                               const Recipe& recipe, std::span<const language::Safetensors> files);

/// Returns parameters under Hugging Face's names, with its prefix, as tensors of a file: the
/// inverse. Of the token table and of the head no more than `vocabulary` rows are taken.
std::map<std::string, language::WeightTensor> exported_weights(
    std::span<const NamedValues> parameters, const Recipe& recipe, std::int64_t vocabulary);

/// Does the same for all parameters and rows of `model`.
std::map<std::string, language::WeightTensor> exported_weights(CommandQueue& queue,
                                                               models::LanguageModel& model,
                                                               const Recipe& recipe);

}  // namespace howard::training
