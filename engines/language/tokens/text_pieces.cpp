// SPDX-License-Identifier: Apache-2.0
#include "engines/language/tokens/text_pieces.h"

#include <optional>

namespace howard::language {

const char* const kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

TextPieces::TextPieces(const std::string& pattern, const std::string& source)
    : pattern_(pattern, "divide texts by the pattern of " + source) {}

std::vector<std::string_view> TextPieces::pieces(std::string_view text) const {
  std::vector<std::string_view> found;
  std::size_t done = 0;
  std::size_t start = 0;
  while (start < text.size()) {
    const std::optional<Pattern::Span> match = pattern_.find(text, start);
    if (!match) break;
    if (match->end <= match->begin) {  // An empty match divides nothing.
      start = match->end + 1;
      continue;
    }
    if (match->begin > done) found.push_back(text.substr(done, match->begin - done));
    found.push_back(text.substr(match->begin, match->end - match->begin));
    done = start = match->end;
  }
  if (done < text.size()) found.push_back(text.substr(done));
  return found;
}

}  // namespace howard::language
