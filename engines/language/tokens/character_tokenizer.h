// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engines/language/tokens/tokenizer.h"

namespace howard::language {

/// TTML's character tokenizer. Token 0 pads; then follow the characters of a text in the order of
/// their bytes, then the marks of beginning and end. A character is one of UTF-8. Bytes that are
/// not UTF-8 are characters of their own, so that any file can be read.
class CharacterTokenizer final : public Tokenizer {
 public:
  /// Collects the characters of `text`.
  explicit CharacterTokenizer(std::string_view text);
  /// Takes the characters of a saved tokenizer, in the order of their tokens.
  explicit CharacterTokenizer(std::vector<std::string> characters);

  std::vector<std::string> characters() const override { return characters_; }
  /// Returns the number of characters and marks.
  std::int64_t tokens() const override { return static_cast<std::int64_t>(characters_.size()) + 3; }
  /// Throws Error for a character that is not among characters(); the text gives its place.
  std::vector<std::uint32_t> encode(std::string_view text) const override;
  /// Decodes tokens. Padding, marks and tokens that only round up the vocabulary give nothing.
  std::string decode(std::span<const std::uint32_t> tokens) const override;
  /// Returns the range of the characters: padding and marks never occur in a text.
  Range written() const override { return {1, static_cast<std::uint32_t>(characters_.size() + 1)}; }

 private:
  std::vector<std::string> characters_;
  std::map<std::string, std::uint32_t, std::less<>> token_of_;
};

}  // namespace howard::language
