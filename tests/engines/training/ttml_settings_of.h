// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engines/training/config/ttml_yaml.h"

namespace howard::training {

/// Returns what a file of TTML with this text says.
inline TtmlSettings settings_of(const std::string& text) {
  TtmlSettings settings;
  read_ttml(text, "file.yaml", settings);
  return settings;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace howard::training
