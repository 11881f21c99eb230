// SPDX-License-Identifier: Apache-2.0
#include "engines/language/tokens/token_ids.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "engines/language/tokens/corpus.h"
#include "tests/error_of.h"

namespace howard::language {
namespace {

using Ids = std::vector<std::uint32_t>;

TEST(TokenFile, IsReadByTheEndingOfItsName) {
  EXPECT_EQ(read_token_file(std::string("\x01\x00\x02\x01", 4), "a.bin").tokens, (Ids{1, 258}));
  EXPECT_EQ(read_token_file(std::string("\x01\x00\x02\x01", 4), "A.BIN").tokens, (Ids{1, 258}));
  EXPECT_TRUE(names_token_file("A.U32") && !names_token_file("a.txt"));
  EXPECT_EQ(read_token_file(std::string("\x01\x02\x03\x00", 4), "a.u32").tokens, Ids{0x30201});
  EXPECT_EQ(read_token_file("1 2,3\n4", "a.txt").tokens, (Ids{1, 2, 3, 4}));
  const TokenFile yaml = read_token_file("tokenizer_vocab_size: 9\ntokens: \"1 8\"", "a.yaml");
  EXPECT_EQ(yaml.tokens, (Ids{1, 8}));
  EXPECT_EQ(yaml.vocabulary, 9);
  EXPECT_EQ(read_token_file("tokens: [3, 4]", "a.yml").tokens, (Ids{3, 4}));
}

std::string token_refusal(const std::string& bytes, const std::string& name) {
  return error_of([&] { static_cast<void>(read_token_file(bytes, name)); });
}

TEST(TokenFile, RefusesWhatIsNoToken) {
  for (const auto& [bytes, name, part] :
       {std::tuple("abc", "a.bin", "3 bytes"),
        {"abcde", "a.u32", "5 bytes"},
        {"1 2x", "a.txt", "token 2 is '2x'"},
        {"1 -2", "a.txt", "token 2"},
        {"1 99999999999", "a.txt", "token 2"},
        {"16777216", "a.txt", "16777216"},
        {"", "a.txt", "none"},
        {"tokens: x", "a.yaml", "'x'"},
        {"[1", "a.yaml", "line"},
        {"tokenizer_vocab_size: 4\ntokens: \"1 4\"", "a.yaml", "token 2 is 4"},
        {"tokenizer_vocab_size: -1\ntokens: \"1\"", "a.yaml", "-1"},
        {"a: 1", "a.yaml", "tokens"}}) {
    const std::string message = token_refusal(bytes, name);
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_NE(message.find(name), std::string::npos) << message;
  }
}

TEST(TokenIds, AreTextsOfNumbers) {
  const TokenIds ids(100);
  EXPECT_EQ(ids.encode("1,2 99"), (Ids{1, 2, 99}));
  EXPECT_EQ(ids.decode(Ids{1, 2}), " 1 2");
  EXPECT_THROW(static_cast<void>(ids.encode("100")), Error);
}

TEST(Corpus, OfAFileTakesItsVocabularyFromTheTokensUnlessItIsSaid) {
  EXPECT_EQ(read_corpus("5 6 7", "t.txt", nullptr, 0).tokenizer->tokens(), 8);
  EXPECT_EQ(read_corpus("5 6 7", "t.txt", nullptr, 96).tokenizer->tokens(), 96);
  EXPECT_EQ(read_corpus("tokenizer_vocab_size: 50\ntokens: 3 4", "t.yaml", nullptr, 96)
                .tokenizer->tokens(),
            50);
  EXPECT_THROW(static_cast<void>(read_corpus("5 96", "t.txt", nullptr, 96)), Error);
  const Corpus a = read_corpus("5 6", "t.txt", nullptr, 0);
  const Corpus b = read_corpus("5 7", "t.txt", nullptr, 0);
  EXPECT_NE(a.checksum, b.checksum);
}

}  // namespace
}  // namespace howard::language
