// SPDX-License-Identifier: Apache-2.0
#include "engines/language/tokens/corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/checksum.h"
#include "base/error.h"
#include "engines/language/tokens/character_tokenizer.h"
#include "engines/language/tokens/token_ids.h"

namespace howard::language {
namespace {

std::uint32_t checksum_of(const std::vector<std::uint32_t>& tokens) {
  return checksum({reinterpret_cast<const char*>(tokens.data()), tokens.size() * 4});
}

}  // namespace

Corpus::Corpus(std::string_view text)
    : Corpus(text, std::make_shared<const CharacterTokenizer>(text)) {}

Corpus::Corpus(std::string_view text, std::shared_ptr<const Tokenizer> with)
    : tokenizer(std::move(with)),
      tokens(tokenizer->encode(text)),
      checksum(howard::checksum(text)) {}

Corpus::Corpus(std::vector<std::uint32_t> made, std::shared_ptr<const Tokenizer> with)
    : tokenizer(std::move(with)), tokens(std::move(made)), checksum(checksum_of(tokens)) {}

Corpus read_corpus(std::string_view bytes, const std::string& source,
                   std::shared_ptr<const Tokenizer> tokenizer, std::int64_t vocabulary) {
  if (tokenizer && !names_token_file(source)) return {bytes, std::move(tokenizer)};
  TokenFile file = read_token_file(bytes, source);
  const std::int64_t used = std::int64_t{std::ranges::max(file.tokens)} + 1;
  if (tokenizer) {
    file.vocabulary = tokenizer->tokens();
  } else if (file.vocabulary == 0) {
    file.vocabulary = vocabulary == 0 ? used : vocabulary;
  }
  if (used > file.vocabulary) {
    throw Error(
        {.attempted = "train on the tokens in " + source,
         .value = fmt::format("token {}", used - 1),
         .accepted = fmt::format("0 to {}, the vocabulary of the model", file.vocabulary - 1),
         .hint = "a larger vocab_size"});
  }
  if (!tokenizer) tokenizer = std::make_shared<const TokenIds>(file.vocabulary);
  return {std::move(file.tokens), std::move(tokenizer)};
}

}  // namespace howard::language
