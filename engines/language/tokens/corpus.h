// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engines/language/tokens/tokenizer.h"

namespace howard::language {

/// A text as tokens, on which a model is trained.
struct Corpus {
  /// Reads the characters of a text.
  explicit Corpus(std::string_view text);
  /// Reads a text with `tokenizer`.
  Corpus(std::string_view text, std::shared_ptr<const Tokenizer> tokenizer);
  /// Takes tokens that were made before; `tokenizer` writes what a model generates.
  Corpus(std::vector<std::uint32_t> tokens, std::shared_ptr<const Tokenizer> tokenizer);

  std::shared_ptr<const Tokenizer> tokenizer;
  std::vector<std::uint32_t> tokens;
  std::uint32_t checksum = 0;  ///< The checksum of the text, or of tokens that were made before.
};

/// Reads the corpus in a file. It is a file of tokens (see read_token_file()) if its name says so
/// or if there is no tokenizer; otherwise it is a text that `tokenizer` reads. `vocabulary` is the
/// number of tokens if neither the tokenizer nor the file says it; 0 means as many as the file
/// uses. Throws Error as those functions do, and for a token beyond the vocabulary.
Corpus read_corpus(std::string_view bytes, const std::string& source,
                   std::shared_ptr<const Tokenizer> tokenizer, std::int64_t vocabulary);

}  // namespace howard::language
