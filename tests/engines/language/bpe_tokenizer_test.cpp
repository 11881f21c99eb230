// SPDX-License-Identifier: Apache-2.0
#include "engines/language/tokens/bpe_tokenizer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "base/error.h"
#include "tests/error_of.h"

namespace howard::language {
namespace {

using nlohmann::json;

std::string utf8(int point) {
  if (point < 0x80) return {static_cast<char>(point)};
  return {static_cast<char>(0xc0 | point >> 6), static_cast<char>(0x80 | (point & 0x3f))};
}

/// GPT-2's characters of the bytes, in the order of the bytes.
std::vector<std::string> byte_characters() {
  std::vector<std::string> all;
  int next = 256;
  for (int byte = 0; byte < 256; ++byte) {
    const bool own = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    all.push_back(utf8(own ? byte : next++));
  }
  return all;
}

/// A tokenizer.json with a token for each byte, by its number, and these merges in their order.
json byte_level(const std::vector<std::pair<std::string, std::string>>& merges) {
  json vocabulary = json::object();
  for (const std::string& character : byte_characters()) {
    vocabulary[character] = vocabulary.size();
  }
  json list = json::array();
  for (const auto& [left, right] : merges) {
    list.push_back(left + " " + right);
    vocabulary[left + right] = vocabulary.size();
  }
  return {{"added_tokens", json::array()},
          {"normalizer", nullptr},
          {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
          {"post_processor", nullptr},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", list}}}};
}

BpeTokenizer tokenizer_of(const json& file) { return {file.dump(), "tokenizer.json"}; }

using Ids = std::vector<std::uint32_t>;

TEST(BpeTokenizer, MergesTheEarliestPairFirstAndTheLeftmostOfEqualOnes) {
  const BpeTokenizer plain = tokenizer_of(byte_level({{"b", "c"}, {"a", "b"}, {"a", "bc"}}));
  EXPECT_EQ(plain.encode("abc"), Ids{258});  // bc before ab, then a bc
  EXPECT_EQ(plain.encode("abab"), (Ids{257, 257}));
  const BpeTokenizer pairs = tokenizer_of(byte_level({{"a", "a"}}));
  EXPECT_EQ(pairs.encode("aaaaa"), (Ids{256, 256, 'a'}));
}

TEST(BpeTokenizer, GivesBackEveryTextByteForByte) {
  const BpeTokenizer tokenizer =
      tokenizer_of(byte_level({{"h", "e"}, {"l", "l"}, {"he", "ll"}, {"\xc4\xa0", "w"}}));
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    std::string text;
    for (int j = 0; j < 40; ++j) text += static_cast<char>(random() % 256);
    text += "hello  w\xc3\xa9";
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
  }
  EXPECT_EQ(tokenizer.encode(""), Ids{});
}

TEST(BpeTokenizer, DividesByThePatternOfGpt2) {
  const TextPieces pieces(kGpt2Pattern, "a test");
  EXPECT_EQ(pieces.pieces("Hello world's  12 caf\xc3\xa9s!\n"),
            (std::vector<std::string_view>{"Hello", " world", "'s", " ", " 12", " caf\xc3\xa9s",
                                           "!", "\n"}));
}

TEST(BpeTokenizer, DividesByThePatternOfTheFile) {
  json file = byte_level({{"1", "2"}, {"12", "3"}, {"4", "5"}});
  file["pre_tokenizer"] = {
      {"type", "Sequence"},
      {"pretokenizers",
       {{{"type", "Split"},
         {"pattern", {{"Regex", R"(\p{N}{1,3}|[^\p{N}]+)"}}},
         {"behavior", "Isolated"},
         {"invert", false}},
        {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}};
  EXPECT_EQ(tokenizer_of(file).encode("12345"), (Ids{257, 258}));
  file["model"]["merges"] = json::array({{"2", "3"}, {"1", "23"}});
  file["model"]["vocab"]["23"] = 300;
  file["model"]["vocab"]["123"] = 301;
  EXPECT_EQ(tokenizer_of(file).encode("123"), (Ids{301}));
}

TEST(BpeTokenizer, TakesAddedTokensWholeTheLongestFirst) {
  json file = byte_level({});
  file["added_tokens"] = {{{"id", 256}, {"content", "<s>"}, {"special", true}},
                          {{"id", 257}, {"content", "<s>>"}}};
  file["post_processor"] = {{"type", "TemplateProcessing"},
                            {"single",
                             {{{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}},
                              {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}}}};
  const BpeTokenizer tokenizer = tokenizer_of(file);
  EXPECT_EQ(tokenizer.tokens(), 258);
  EXPECT_EQ(tokenizer.vocabulary(), 288);
  EXPECT_EQ(tokenizer.begin(), 256U);
  EXPECT_EQ(tokenizer.encode("a<s>b<s>>"), (Ids{'a', 256, 'b', 257}));
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("a<s>b<s>>")), "a<s>b<s>>");
}

/// The kind of Llama 2: U+2581 for blanks, bytes without a token as <0xNN>.
json blank_level() {
  json file = byte_level({});
  json vocabulary = {{"<unk>", 0}, {"<s>", 1}};
  for (int byte = 0; byte < 256; ++byte) {
    std::array<char, 8> name{};
    std::snprintf(name.data(), name.size(), "<0x%02X>", static_cast<unsigned>(byte));
    vocabulary[name.data()] = vocabulary.size();
  }
  for (const char* const token : {"\xe2\x96\x81", "a", "b",
                                  "\xe2\x96\x81"
                                  "a",
                                  "ab"}) {
    vocabulary[token] = vocabulary.size();
  }
  file["normalizer"] = {
      {"type", "Sequence"},
      {"normalizers",
       {{{"type", "Prepend"}, {"prepend", "\xe2\x96\x81"}},
        {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\xe2\x96\x81"}}}}};
  file["pre_tokenizer"] = nullptr;
  file["model"]["vocab"] = vocabulary;
  file["model"]["merges"] = {"a b", "\xe2\x96\x81 a"};
  file["model"]["unk_token"] = "<unk>";
  return file;
}

TEST(BpeTokenizer, SpellsBlanksAndBytesAsLlama2) {
  const BpeTokenizer tokenizer = tokenizer_of(blank_level());
  EXPECT_EQ(tokenizer.encode("ab a"), (Ids{258, 262, 261}));
  EXPECT_EQ(tokenizer.encode("\xc3\xa9"), (Ids{258, 2 + 0xc3, 2 + 0xa9}));
  for (const std::string text : {"ab a  b\n", " a", "caf\xc3\xa9 \xf0\x9f\x98\x80"}) {
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
  }
  json metaspace = blank_level();
  metaspace["normalizer"] = nullptr;
  metaspace["pre_tokenizer"] = {{"type", "Metaspace"},
                                {"replacement", "\xe2\x96\x81"},
                                {"prepend_scheme", "first"},
                                {"split", false}};
  EXPECT_EQ(tokenizer_of(metaspace).encode("ab a"), tokenizer.encode("ab a"));
}

TEST(BpeTokenizer, ReadsALongWordInOneGo) {
  const BpeTokenizer tokenizer = tokenizer_of(byte_level({{"a", "a"}, {"aa", "aa"}}));
  EXPECT_EQ(tokenizer.encode(std::string(400'000, 'a')).size(), 100'000U);
}

/// The message about a file.
std::string refusal(const json& file) {
  return error_of([&] { static_cast<void>(tokenizer_of(file)); });
}

TEST(BpeTokenizer, RefusesHostileFilesByName) {
  const auto changed = [](const char* pointer, const json& value) {
    json file = byte_level({{"a", "b"}});
    file[json::json_pointer(pointer)] = value;
    return refusal(file);
  };
  const auto expect = [](const std::string& message, const char* part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_NE(message.find("tokenizer.json"), std::string::npos) << message;
  };
  expect(changed("/model/type", "Unigram"), "Unigram");
  expect(changed("/model/vocab/a", -1), "at /model/vocab/a: -1");
  expect(changed("/model/vocab/a", 1 << 30), "at /model/vocab/a: 1073741824");
  expect(changed("/model/vocab/a", 98), "the number 98 of another");
  expect(changed("/model/vocab/a", "x"), "at /model/vocab/a: \"x\"");
  expect(changed("/model/merges", {"a b", "a b"}), "there twice");
  expect(changed("/model/merges", {"a x y"}), "at /model/merges/0: \"a x y\"");
  expect(changed("/model/merges", {"a zz"}), "'zz'");
  expect(changed("/model/merges", 3), "at /model/merges: 3; accepted: a list");
  expect(changed("/model/vocab", json::object()), "at /model/vocab: {}; accepted: tokens");
  expect(changed("/model/end_of_word_suffix", "</w>"), "end_of_word_suffix");
  expect(changed("/normalizer", {{"type", "NFKC"}}), "NFKC");
  expect(changed("/pre_tokenizer", {{"type", "Whitespace"}}), "Whitespace");
  expect(changed("/pre_tokenizer", nullptr), "accepted: a pre_tokenizer whose tokens are bytes");
  expect(changed("/added_tokens", {{{"id", 5}, {"content", "<s>"}}}), "'<s>' has the number 5");
  expect(changed("/added_tokens", {{{"id", 999}, {"content", "<s>"}, {"lstrip", true}}}),
         "at /added_tokens/0/lstrip: true");
  const json bad = {{"type", "Sequence"},
                    {"pretokenizers",
                     {{{"type", "Split"}, {"pattern", {{"Regex", "(a"}}}, {"behavior", "Isolated"}},
                      {{"type", "ByteLevel"}, {"use_regex", false}}}}};
  expect(changed("/pre_tokenizer", bad), "at character");
}

TEST(BpeTokenizer, RefusesTruncatedFiles) {
  const std::string whole = byte_level({{"a", "b"}}).dump();
  for (std::size_t length = 0; length < whole.size(); length += 7) {
    EXPECT_THROW(BpeTokenizer(whole.substr(0, length), "t"), Error) << length;
  }
  EXPECT_THROW(BpeTokenizer(std::string(100'000, '['), "t"), Error);
}

}  // namespace
}  // namespace howard::language
