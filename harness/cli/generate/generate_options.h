// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "engines/chip/profiles/profile.h"
#include "engines/language/generator.h"
#include "engines/models/cached_llama.h"
#include "harness/cli/command/shared_options.h"
#include "harness/result.h"

namespace howard::cli {

/// The name of the command, in what it writes.
inline constexpr std::string_view kGenerateName = "generate";

/// Holds what `generate` is asked for.
struct GenerateOptions {
  std::filesystem::path weights;    ///< safetensors, a file or a folder.
  std::filesystem::path model;      ///< A config.json, or a file of TTML with transformer_config.
  std::filesystem::path tokenizer;  ///< A tokenizer.json; empty: texts are numbers of tokens.

  std::string prompt;
  bool chat = false;  ///< True if the prompt is a user's message for the model's chat template.
  std::filesystem::path messages;       ///< A JSON file of earlier messages; empty: none.
  std::filesystem::path chat_template;  ///< Empty: the one beside the weights.
  std::int64_t count = 50;
  language::Sampling sampling{.temperature = 0, .seed = 5489};
  bool stops = true;  ///< True if writing stops at a token that ends a text.

  bool cache = true;
  std::int64_t context = 0;  ///< Tokens that the cache has room for; 0: prompt and new ones.
  models::CacheCalls calls = models::CacheCalls::kernels;
  models::DecodeEngine engine = models::DecodeEngine::dynamic;

  DataType dtype = DataType::bfloat16;
  harness::Backend backend = harness::Backend::host;
  int threads = 0;  ///< 0 stands for all threads that the process may use.
  chip::ProfileChoice profiles;
  OutputPlaces outputs{.results = {}};  ///< Without a folder if no file is wanted.
};

/// Returns the options of `generate`.
OptionList generate_options(GenerateOptions& options);

/// Finds the model and the tokenizer beside the weights. Throws UsageError for a bad command line;
/// throws Error for files that are not there.
void complete(GenerateOptions& options);

/// Returns the folder in which the model's other files are looked for.
std::filesystem::path folder_of_weights(const GenerateOptions& options);

}  // namespace howard::cli
