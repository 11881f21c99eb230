// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engines/language/weights/safetensors.h"
#include "engines/models/language_model.h"
#include "engines/models/model_options.h"

namespace howard::language {

/// The name of a tensor and its values, row by row.
struct NamedValues {
  std::string name;
  std::vector<float> values;

  friend bool operator==(const NamedValues&, const NamedValues&) = default;
};

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

/// Reads the values of these parameters, which are those of `options`, one after the other. The
/// names and the order of rows in the files are those of Hugging Face's GPT-2, Llama or Qwen3.
/// Throws Error for a tensor of another shape.
ImportedWeights import_weights(std::span<const ParameterShape> parameters,
                               const models::ModelOptions& options,
                               std::span<const Safetensors> files, const TakeWeights& take);

/// Writes the values of the files into the parameters of `model`, which is that of `options`.
ImportedWeights import_weights(CommandQueue& queue, models::LanguageModel& model,
                               const models::ModelOptions& options,
                               std::span<const Safetensors> files);

/// Returns parameters under Hugging Face's names, with its prefix, as tensors of a file: the
/// inverse. Of the token table and of the head no more than `vocabulary` rows are taken.
std::map<std::string, WeightTensor> exported_weights(
    std::span<const NamedValues> parameters, const models::ModelOptions& options,
    std::int64_t vocabulary = std::numeric_limits<std::int64_t>::max());

}  // namespace howard::language
