// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace howard::cli {

/// Fits what is printed to a terminal: a line of prose that is too long is broken between words,
/// and a command is named as the shell of this terminal can run it. Rows of tables, commands and
/// what has colours stay in one line.
class Prose {
 public:
  /// Returns what of `piece` can be printed on a terminal of `width` columns. A line whose end is
  /// in a later piece stays as it is.
  std::string pass(std::string_view piece, std::size_t width);

 private:
  bool in_line_ = false;  ///< The last piece ended within a line.
};

}  // namespace howard::cli
