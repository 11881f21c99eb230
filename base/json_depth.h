// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace howard {

/// The deepest nesting of lists and objects that we accept in a JSON text. What we and others write
/// has ten levels; a parser or printer that recurses into a hundred thousand levels would overflow
/// its stack.
inline constexpr int kMostJsonDepth = 200;

/// Tracks the nesting depth of a JSON text, byte by byte.
class JsonDepth {
 public:
  /// Takes the next byte; returns false when it opens a level too many.
  bool take(char byte);

 private:
  int depth_ = 0;
  bool in_text_ = false;
  bool escaped_ = false;
};

/// Throws Error when `text` is nested more deeply than kMostJsonDepth. `attempted` names the
/// action: "read results.json".
void require_json_depth(std::string_view text, std::string_view attempted);
/// Throws the same Error unconditionally.
[[noreturn]] void refuse_json_depth(std::string_view attempted);

}  // namespace howard
