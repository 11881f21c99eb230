// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "engines/training/config/ttml_config.h"

namespace howard::training {

/// What files have said, and where: a message about a key names its file and line.
struct TtmlSettings {
  TtmlConfig config;
  /// "training.yaml:12" of each key that a file has, by section and key with a dot between.
  std::map<std::string, std::string> places;

  bool has(const std::string& key) const { return places.contains(key); }
  /// "training.yaml:12: training_config.batch_size", or the key alone where no file has it.
  std::string name_of(const std::string& key) const;
};

/// Error about a key's value, with the key's place.
[[noreturn]] void refuse_ttml(const TtmlSettings& settings, const std::string& key,
                              const std::string& value, const std::string& accepted,
                              const std::string& hint = "");

/// Reads a file of TTML, whose parts may be in one or in several: keys that are set take the place
/// of what was there. `file` names it in messages. Error, with the line, for what is no YAML, a key
/// that TTML does not have (it would ignore it), a key that is there twice, and a value of another
/// kind.
void read_ttml(std::string_view text, const std::string& file, TtmlSettings& settings);

/// The text of each value, by section and key with a dot between; none for an optional without one.
std::map<std::string, std::string> ttml_values(const TtmlConfig& config);

/// All settings, defaults included, as one file that read_ttml() reads back to the same.
std::string ttml_text(const TtmlConfig& config);

}  // namespace howard::training
