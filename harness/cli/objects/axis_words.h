// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/cli/command/command.h"

namespace howard::cli {

/// A word that may give an axis: "--shape" with the word behind it, "--shape=4096", "shape=4096".
struct AxisWord {
  std::string name;   ///< "shape"; an option's "-" become "_".
  std::string value;  ///< "" if there is none.
  std::size_t words = 1;
  bool is_long = false;
};
std::optional<AxisWord> axis_word(const std::vector<std::string>& words, std::size_t at);

/// Puts their options before what the words give without: -a before axes, --with before the keys of
/// a training, the dashes before "seed=3", and the names before the sizes of a product in
/// "tune 512x1024x2048", and the axis before a word that only one axis takes, as in
/// "vision resnet-50". Throws UsageError for an axis without a value.
std::vector<std::string> with_axes(const std::vector<std::string>& words, const Command& command);

}  // namespace howard::cli
