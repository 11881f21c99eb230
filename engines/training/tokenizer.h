// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace howard::training {

/// TTML's character tokenizer: 0 pads, then the characters of a text in the order of their bytes,
/// then the marks of beginning and end. A character is one of UTF-8; bytes that are none are
/// characters of their own, so that any file can be read.
class Tokenizer {
 public:
  /// The characters of `text`.
  explicit Tokenizer(std::string_view text);
  /// Given characters, in the order of their tokens: those of a saved tokenizer.
  explicit Tokenizer(std::vector<std::string> characters);

  const std::vector<std::string>& characters() const { return characters_; }
  /// Characters and marks.
  std::int64_t tokens() const { return static_cast<std::int64_t>(characters_.size()) + 3; }
  /// tokens() rounded up to whole tiles: the vocabulary of the model.
  std::int64_t vocabulary() const;

  /// Error for a character that is not among characters(), with its place.
  std::vector<std::uint32_t> encode(std::string_view text) const;
  /// Padding, marks and what only rounds up the vocabulary give nothing.
  std::string decode(std::span<const std::uint32_t> tokens) const;

 private:
  std::vector<std::string> characters_;
  std::map<std::string, std::uint32_t, std::less<>> token_of_;
};

}  // namespace howard::training
