// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engines/training/config/ttml_config.h"

namespace howard::training {

/// The batch that the rate of TTML's mnist_mlp is for, and its default.
inline constexpr std::int64_t kMlpBatch = 128;

/// Holds what files have said, and where: a message about a key names its file and line.
struct TtmlSettings {
  TtmlConfig config;
  /// The place of each key that a file has, such as "training.yaml:12", by section and key with a
  /// dot between.
  std::map<std::string, std::string> places;
  /// What TTML reads over, a sentence each: keys that it does not have.
  std::vector<std::string> notes;

  bool has(const std::string& key) const { return places.contains(key); }
  /// Says whether the files are those of TTML's mnist_mlp, whose model is an mlp.
  bool trains_mlp() const { return config.training.mlp != TtmlMlp{}; }
  /// Says whether the files are those of TTML's GRPOTrainer.
  bool trains_by_rewards() const { return config.grpo != TtmlGrpo{}; }
  /// Returns "training.yaml:12: training_config.batch_size", or the key alone if no file has it.
  std::string name_of(const std::string& key) const;
};

/// Throws Error about a key's value, with the key's place.
[[noreturn]] void refuse_ttml(const TtmlSettings& settings, const std::string& key,
                              const std::string& value, const std::string& accepted,
                              const std::string& hint = "");

/// Reads a file of TTML. The parts may be in one file or in several: keys that are set take the
/// place of what was there. `file` names it in messages. Variables of the environment, as $NAME or
/// ${NAME}, are replaced in texts; a name that is not set stays, as in TTML. Throws Error, with the
/// line, for text that is not YAML, for a key that is nearly one of TTML's or belongs elsewhere
/// (any other that TTML does not have becomes a note), for a key that is there twice, and for a
/// value of another kind.
void read_ttml(std::string_view text, const std::string& file, TtmlSettings& settings);

/// Returns the name of the first variable, as $NAME or ${NAME}, in a text; empty if there is none.
std::string variable_in(std::string_view text);

/// Returns the text of each value, by section and key with a dot between; an optional without a
/// value has none.
std::map<std::string, std::string> ttml_values(const TtmlConfig& config);

/// Returns all settings, defaults included, as one file that read_ttml() reads back to the same.
std::string ttml_text(const TtmlConfig& config);

}  // namespace howard::training
