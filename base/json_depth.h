// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace howard {

/// How deep lists and objects of a JSON text may lie in each other. What we and others write has
/// ten levels; a parser or a printer that follows a text of a hundred thousand would run out of
/// stack.
inline constexpr int kMostJsonDepth = 200;

/// Follows a JSON text, byte by byte, as far as its depth needs.
class JsonDepth {
 public:
  /// False when this byte opens a level too many.
  bool take(char byte);

 private:
  int depth_ = 0;
  bool in_text_ = false;
  bool escaped_ = false;
};

/// Error when `text` is nested deeper than that; `attempted`: "read results.json".
void require_json_depth(std::string_view text, std::string_view attempted);
/// That Error.
[[noreturn]] void refuse_json_depth(std::string_view attempted);

}  // namespace howard
