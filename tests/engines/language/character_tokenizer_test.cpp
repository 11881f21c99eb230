// SPDX-License-Identifier: Apache-2.0
#include "engines/language/tokens/character_tokenizer.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/error_of.h"

namespace howard::language {
namespace {

using Tokens = std::vector<std::uint32_t>;

TEST(CharacterTokenizer, PadsWithZeroAndCountsCharactersInOrder) {
  const CharacterTokenizer tokenizer("banana");
  EXPECT_EQ(tokenizer.characters(), (std::vector<std::string>{"a", "b", "n"}));
  EXPECT_EQ(tokenizer.encode("nab"), (Tokens{3, 1, 2}));
  EXPECT_EQ(tokenizer.decode(Tokens{3, 1, 2, 0, 4, 5, 31}), "nab");
}

TEST(CharacterTokenizer, Shakespeares65CharactersAre68TokensInAVocabularyOf96) {
  std::string text;
  for (char c = '0'; c < '0' + 65; ++c) text += c;
  const CharacterTokenizer tokenizer(text);
  EXPECT_EQ(tokenizer.tokens(), 68);
  EXPECT_EQ(tokenizer.vocabulary(), 96);
}

TEST(CharacterTokenizer, CharactersAreThoseOfUtf8AndStrayBytesStandForThemselves) {
  const CharacterTokenizer tokenizer("aé€\xffz\xe2\x82");
  EXPECT_EQ(tokenizer.characters(),
            (std::vector<std::string>{"a", "z", "\x82", "é", "\xe2", "€", "\xff"}));
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("€\xff\xe2")), "€\xff\xe2");
}

TEST(CharacterTokenizer, NamesAnUnknownCharacterAndItsPlace) {
  const ErrorText refusal =
      error_parts_of([&] { static_cast<void>(CharacterTokenizer("abc").encode("abéc")); });
  EXPECT_EQ(refusal.value, "character 'é' at place 3");
}

}  // namespace
}  // namespace howard::language
