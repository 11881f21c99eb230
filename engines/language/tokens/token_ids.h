// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engines/language/tokens/tokenizer.h"

namespace howard::language {

/// A text that somebody has turned into tokens already.
struct TokenFile {
  std::vector<std::uint32_t> tokens;
  std::int64_t vocabulary = 0;  ///< The number of tokens; 0 if the file does not say.
};

/// Reads a file of tokens, by the ending of its name, in small or in capital letters:
///   .bin         uint16 in little endian, as nanoGPT's prepare.py writes it
///   .u32         uint32 in little endian
///   .yaml, .yml  TTML's: {tokenizer_vocab_size: N, tokens: "1 2 3"}, or a list as tokens
///   any other    decimal numbers between blanks, commas or new lines, as TTML's dataset_to_tokens
/// Throws Error, naming `source` and the place, for what is no token below 2^24, bytes that are no
/// whole token, a file without tokens, and a token that is not below tokenizer_vocab_size.
TokenFile read_token_file(std::string_view bytes, const std::string& source);

/// Says whether the ending of a name is that of a file of tokens: .bin, .u32, .yaml or .yml.
bool names_token_file(std::string_view name);

/// A tokenizer for tokens without a text: their text is their numbers.
class TokenIds final : public Tokenizer {
 public:
  explicit TokenIds(std::int64_t tokens) : tokens_(tokens) {}

  std::int64_t tokens() const override { return tokens_; }
  /// Reads numbers between blanks or commas. Throws Error for anything that is not a token.
  std::vector<std::uint32_t> encode(std::string_view text) const override;
  /// Writes each number with a blank before it.
  std::string decode(std::span<const std::uint32_t> tokens) const override;

 private:
  std::int64_t tokens_;
};

}  // namespace howard::language
