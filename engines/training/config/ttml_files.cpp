// SPDX-License-Identifier: Apache-2.0
#include "engines/training/config/ttml_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/bad_request.h"
#include "base/input_file.h"
#include "base/text.h"
#include "engines/language/tokens/token_ids.h"
#include "engines/training/pictures.h"

namespace howard::training {
namespace {

/// TTML's character model, for a text that --data names: its defaults, with a smaller batch and as
/// many epochs as its steps need.
constexpr std::string_view kNanoGpt = R"(
training_config:
  project_name: nano_gpt
  batch_size: 32
  num_epochs: 1000000000
  max_steps: 1000
  model_save_interval: 100
)";

/// Finds `path` as `file` names it: from its folder, from one above it, from the working folder or
/// from TTML's. The result is absent when it is nowhere.
std::optional<std::filesystem::path> find_beside(const std::filesystem::path& file,
                                                 const std::filesystem::path& path) {
  if (path.is_absolute()) {
    return std::filesystem::exists(path) ? std::optional(path) : std::nullopt;
  }
  std::filesystem::path folder =
      std::filesystem::absolute(file.empty() ? "file" : file).parent_path();
  for (;; folder = folder.parent_path()) {
    if (std::filesystem::exists(folder / path)) return folder / path;
    if (folder == folder.parent_path()) break;
  }
  if (std::filesystem::exists(path)) return path;
  for (const char* const variable : {"TT_METAL_RUNTIME_ROOT", "TT_METAL_HOME"}) {
    const char* const root = std::getenv(variable);
    if (root == nullptr) continue;
    const std::filesystem::path train = std::filesystem::path(root) / "tt-train";
    for (const char* const inner : {"", "configs", "configs/training_configs"}) {
      if (std::filesystem::exists(train / inner / path)) return train / inner / path;
    }
  }
  return std::nullopt;
}

constexpr const char* kPlaces =
    "a file, from the training file's folder or one above it, from here, or from "
    "$TT_METAL_RUNTIME_ROOT/tt-train or $TT_METAL_HOME/tt-train";

/// Throws Error if a path has a variable that is not set.
void require_expanded(const TtmlSettings& settings, const std::string& key,
                      const std::string& value) {
  const std::string variable = variable_in(value);
  if (variable.empty()) return;
  const bool root = variable.starts_with("TT_METAL");
  refuse_ttml(
      settings, key, "'" + value + "', whose variable " + variable + " is not set",
      "a path whose variables are set",
      fmt::format("export {}={}", variable, root ? "the folder that has tt-train" : "its value"));
}

/// Returns the value of a key that is a path. Throws Error when it is nowhere.
std::filesystem::path required_path(const TtmlSettings& settings, const std::string& key,
                                    const std::string& value,
                                    const std::filesystem::path& training) {
  require_expanded(settings, key, value);
  const auto found = find_beside(training, value);
  if (found) return *found;
  refuse_ttml(settings, key, "'" + value + "' is not there", kPlaces);
}

void read_into(const std::filesystem::path& file, TtmlSettings& settings) {
  if (file.empty()) return;
  read_ttml(read_settings_file(file), file.string(), settings);
  const bool has_keys = std::ranges::any_of(settings.places, [&](const auto& place) {
    return place.second.starts_with(file.string() + ":");
  });
  if (has_keys) return;
  throw Error({.attempted = "read the settings in " + file.string(),
               .value = "there is none in it",
               .accepted = "the keys of TTML's files",
               .hint = "run_experiment train --print-config, which has them all"});
}

[[noreturn]] void refuse_key(const std::string& given, const std::string& accepted,
                             const std::string& hint = "") {
  throw BadRequest({.attempted = "set a key of TTML's files",
                    .value = "'" + given + "'",
                    .accepted = accepted,
                    .hint = hint});
}

/// Returns "section.key" of a key that is given with its section or with the end of it, or without
/// one where it is in one section only.
std::string whole_name(const std::string& given) {
  std::vector<std::string> found, inner_found, all;
  TtmlConfig config;
  for_each_ttml_key(config, [&](const TtmlKey& key, auto&) {
    const std::string whole = key.whole();
    all.emplace_back(key.name);
    const bool ends_so = given.find('.') != std::string::npos && whole.ends_with("." + given);
    if (given == whole || ends_so) found.assign(1, whole);
    if (given != key.name) return;
    // A map within a map has keys of the same name: learning rates of an optimizer. GRPO's trainer
    // has a batch_size that nothing reads.
    const bool inner = key.section.find('.') != std::string::npos || key.section == "grpo_config";
    (inner ? inner_found : found).push_back(whole);
  });
  if (found.empty()) found = inner_found;
  if (found.size() == 1) return found.front();
  if (found.size() > 1) refuse_key(given, join(found, ", "));
  const auto suggestion = closest(given, all);
  refuse_key(given, "one that TTML has, as max_steps=10", suggestion ? *suggestion + "=..." : "");
}

/// Reads "a.b.c=value" as YAML.
void read_key(const std::string& text, TtmlSettings& settings) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals + 1 == text.size()) {
    refuse_key(text, "KEY=VALUE");
  }
  std::string yaml;
  for (const std::string& part : split(whole_name(text.substr(0, equals)), '.')) {
    yaml += (yaml.empty() ? "" : ": {") + part;
  }
  const auto depth = static_cast<std::size_t>(std::ranges::count(yaml, '{'));
  yaml += ": " + text.substr(equals + 1) + std::string(depth, '}');
  read_ttml(yaml, "--with " + text, settings);
}

/// Says how the data are read where no file does: a model with a vocabulary of its own reads
/// tokens, unless the data are a text that somebody has named.
void choose_tokenizer(const std::filesystem::path& data, bool is_named, TtmlSettings& settings) {
  const bool named = settings.has("training_config.tokenizer_type");
  if (named || settings.config.transformer.vocab_size.value_or(0) == 0) return;
  const bool is_text = std::filesystem::exists(data) && !language::names_token_file(data.string());
  if (is_named && is_text) return;
  settings.config.training.tokenizer_type = "bpe";
}

}  // namespace

TtmlSettings read_ttml_files(const TtmlFiles& files, NamedFiles named) {
  TtmlSettings settings;
  // They are read before the model's file, which a key may name, and again over all files.
  const auto read_keys = [&] {
    for (const std::string& key : files.keys) read_key(key, settings);
  };
  if (!files.preset.empty()) {
    read_ttml(kNanoGpt, "preset " + files.preset, settings);
  }
  read_into(files.training, settings);
  read_keys();
  std::filesystem::path model = files.model;
  if (const auto& given = settings.config.training.model_config; model.empty() && given) {
    model = required_path(settings, "training_config.model_config", *given, files.training);
  }
  read_into(model, settings);
  read_into(files.device, settings);
  std::filesystem::path multihost = files.multihost;
  if (const auto& given = settings.config.training.multihost_config; multihost.empty() && given) {
    multihost = required_path(settings, "training_config.multihost_config", *given, files.training);
  }
  read_into(multihost, settings);
  read_keys();
  const auto resolve = [&](const char* key, std::optional<std::string>& path) {
    if (!path || path->empty()) return;
    if (named == NamedFiles::optional && !find_beside(files.training, *path)) return;
    path = required_path(settings, key, *path, files.training).string();
  };
  resolve("transformer_config.model_path", settings.config.transformer.model_path);
  resolve("training_config.tokenizer_path", settings.config.training.tokenizer_path);
  std::string& data = settings.config.training.data_path;
  if (!files.data.empty()) {
    data = files.data.string();
  } else if (const auto found = find_beside(files.training, data); found && !data.empty()) {
    data = found->string();
  }
  const bool is_named = !files.data.empty() || settings.has("training_config.data_path");
  choose_tokenizer(data, is_named, settings);
  return settings;
}

void require_named(const TtmlFiles& files) {
  if (!files.training.empty() || !files.preset.empty()) return;
  throw BadRequest({.attempted = "read the settings of a run",
                    .value = "no training file is named",
                    .accepted = "-c FILE, or --preset nano_gpt"});
}

std::vector<std::pair<std::string_view, std::string>> presets() {
  return {{"nano_gpt", "nano_gpt"}};
}

void require_data(const TtmlSettings& settings, const std::filesystem::path& data) {
  if (settings.trains_mlp()) {
    if (data == kMadePictures || std::filesystem::is_directory(data)) return;
    refuse_ttml(settings, "training_config.data_path",
                data.empty() ? "it is not set" : "'" + data.string() + "' is no folder",
                "a folder with MNIST's files, or the word synthetic", "--data synthetic");
  }
  if (std::filesystem::exists(data)) return;
  require_expanded(settings, "training_config.data_path", data.string());
  refuse_ttml(settings, "training_config.data_path", "'" + data.string() + "' is not there",
              kPlaces, "--data FILE");
}

}  // namespace howard::training
