// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engines/training/tokens/tokenizer.h"

namespace howard::training {

/// What a model is trained on: a text as tokens.
struct Corpus {
  /// The characters of a text.
  explicit Corpus(std::string_view text);
  /// A text that `tokenizer` reads.
  Corpus(std::string_view text, std::shared_ptr<const Tokenizer> tokenizer);
  /// Tokens that were made before; `tokenizer` writes what a model generates.
  Corpus(std::vector<std::uint32_t> tokens, std::shared_ptr<const Tokenizer> tokenizer);

  std::shared_ptr<const Tokenizer> tokenizer;
  std::vector<std::uint32_t> tokens;
  std::uint32_t checksum = 0;  ///< Of the text, or of tokens that were made before.
};

/// The corpus in a file: a file of tokens where its name says so or there is no tokenizer (see
/// read_token_file()), otherwise a text that `tokenizer` reads. `vocabulary`: how many tokens there
/// are where neither the tokenizer nor the file says it; 0: as many as it uses. Throws Error as
/// they do, and for a token beyond the vocabulary.
Corpus read_corpus(std::string_view bytes, const std::string& source,
                   std::shared_ptr<const Tokenizer> tokenizer, std::int64_t vocabulary);

}  // namespace howard::training
