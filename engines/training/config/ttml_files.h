// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engines/training/config/ttml_yaml.h"

namespace howard::training {

/// Names TTML's files of a run; an empty path is no file. The comments name the options.
struct TtmlFiles {
  std::filesystem::path training;   ///< -c, --config
  std::string preset;               ///< --preset: a training file that the program has.
  std::filesystem::path model;      ///< --model: in the place of training_config.model_config.
  std::filesystem::path device;     ///< --device
  std::filesystem::path multihost;  ///< --multihost
  std::filesystem::path data;       ///< --data: in the place of training_config.data_path.
  std::filesystem::path tokenizer;  ///< --tokenizer: in the place of tokenizer_path.
  /// The values of --with, which go over what the files say: "max_steps=10" or
  /// "training_config.max_steps=10".
  std::vector<std::string> keys;
};

/// Says whether weights and tokenizers that the files name must be there: a plan needs none.
enum class NamedFiles { required, optional };

/// Returns what the files say. Paths within them become paths from here: TTML's are relative to the
/// root of tt-train, which is looked for in the folders above the training file and in
/// $TT_METAL_HOME. Throws BadRequest for what stands in `keys` and is no key, Error for a file that
/// is not there, and what read_ttml() throws.
TtmlSettings read_ttml_files(const TtmlFiles& files, NamedFiles named = NamedFiles::required);

/// Throws BadRequest if neither a file nor a preset says what is to be trained.
void require_named(const TtmlFiles& files);

/// Returns the names of the presets, as values of --preset.
std::vector<std::pair<std::string_view, std::string>> presets();

/// Throws Error, with the key's place, unless the text to train on is there.
void require_data(const TtmlSettings& settings, const std::filesystem::path& data);

}  // namespace howard::training
