// SPDX-License-Identifier: Apache-2.0
#include "engines/language/tokens/character_tokenizer.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "base/error.h"

namespace howard::language {
namespace {

/// Returns the length in bytes of the character that begins `text`: that of its lead byte if as
/// many continuation bytes follow, otherwise 1.
std::size_t length_of_first(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  if (length > text.size()) return 1;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return 1;
  }
  return length;
}

template <class Visit>
void for_each_character(std::string_view text, const Visit& visit) {
  while (!text.empty()) {
    const std::size_t length = length_of_first(text);
    visit(text.substr(0, length));
    text.remove_prefix(length);
  }
}

std::vector<std::string> characters_of(std::string_view text) {
  std::set<std::string, std::less<>> found;
  for_each_character(text, [&](std::string_view character) {
    if (!found.contains(character)) found.emplace(character);
  });
  return {found.begin(), found.end()};
}

}  // namespace

CharacterTokenizer::CharacterTokenizer(std::string_view text)
    : CharacterTokenizer(characters_of(text)) {}

CharacterTokenizer::CharacterTokenizer(std::vector<std::string> characters)
    : characters_(std::move(characters)) {
  std::uint32_t token = 1;
  for (const std::string& character : characters_) token_of_.emplace(character, token++);
}

std::vector<std::uint32_t> CharacterTokenizer::encode(std::string_view text) const {
  std::vector<std::uint32_t> tokens;
  for_each_character(text, [&](std::string_view character) {
    const auto found = token_of_.find(character);
    if (found == token_of_.end()) {
      throw Error({.attempted = "read a text",
                   .value = fmt::format("character '{}' at place {}", character, tokens.size() + 1),
                   .accepted = fmt::format("the {} characters of the text that was trained on",
                                           characters_.size())});
    }
    tokens.push_back(found->second);
  });
  return tokens;
}

std::string CharacterTokenizer::decode(std::span<const std::uint32_t> tokens) const {
  std::string text;
  for (const std::uint32_t token : tokens) {
    if (token >= 1 && token <= characters_.size()) text += characters_[token - 1];
  }
  return text;
}

}  // namespace howard::language
