// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engines/training/config/ttml_yaml.h"
#include "engines/training/weights/safetensors.h"

namespace howard::cli {

/// TTML's files of a run, as the command line names them; empty: none.
struct TtmlFiles {
  std::filesystem::path training;   ///< -c, --config
  std::filesystem::path model;      ///< --model: in the place of training_config.model_config.
  std::filesystem::path device;     ///< --device
  std::filesystem::path multihost;  ///< --multihost
  /// --with: "max_steps=10" or "training_config.max_steps=10", over what the files say.
  std::vector<std::string> keys;
};

/// What they say. Paths within them become paths from here: TTML's are relative to the root of
/// tt-train, which is looked for in the folders above the training file and in $TT_METAL_HOME.
/// Throws UsageError for what stands in `keys` and is no key, Error for a file that is not there,
/// and as for training::read_ttml().
training::TtmlSettings read_ttml_files(const TtmlFiles& files);

/// The safetensors files of a folder in the order of their names, or one file. Error as for
/// training::Safetensors, and for a path with none.
std::vector<training::Safetensors> read_weights(const std::filesystem::path& path);

}  // namespace howard::cli
