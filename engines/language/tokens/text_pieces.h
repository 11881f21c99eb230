// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/pattern.h"

namespace howard::language {

/// Divides texts into the pieces within which bytes are merged, by a regular expression as in
/// tokenizer files (with Unicode classes and lookahead). Every match is a piece, and so is what
/// lies between two matches. Bytes that are not UTF-8 match nothing.
class TextPieces {
 public:
  /// Throws Error, naming `source`, for a pattern that is no regular expression.
  TextPieces(const std::string& pattern, const std::string& source);

  /// Returns the pieces of `text` in their order; together they are `text`. Throws Error for a
  /// pattern that needs more than 10 million steps for one piece.
  std::vector<std::string_view> pieces(std::string_view text) const;

 private:
  Pattern pattern_;
};

/// GPT-2's pattern matches contractions, letters, digits or other signs after an optional blank,
/// and blanks.
extern const char* const kGpt2Pattern;

}  // namespace howard::language
