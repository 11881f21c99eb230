// SPDX-License-Identifier: Apache-2.0
#include "engines/language/generator.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "engines/host/host_device.h"
#include "engines/language/tokens/character_tokenizer.h"
#include "engines/models/nano_gpt.h"

namespace howard::language {
namespace {

/// These are the logits of the probabilities 0.1, 0.4, 0.2 and 0.3.
const std::vector<float> kLogits{std::log(0.1F), std::log(0.4F), std::log(0.2F), std::log(0.3F)};

/// Returns the share of even draws that pick each.
std::vector<double> shares(const Sampling& sampling) {
  std::vector<double> result(kLogits.size());
  constexpr int kDraws = 1000;
  for (int i = 0; i < kDraws; ++i) {
    result[pick(kLogits, sampling, (i + 0.5) / kDraws)] += 1.0 / kDraws;
  }
  return result;
}

void expect_shares(const Sampling& sampling, const std::vector<double>& expected) {
  const std::vector<double> actual = shares(sampling);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 0.002) << i;
}

TEST(Pick, FollowsTheProbabilities) { expect_shares({}, {0.1, 0.4, 0.2, 0.3}); }

TEST(Pick, TemperatureSharpensUpToTheMostLikely) {
  expect_shares({.temperature = 0.5F}, {0.01 / 0.3, 0.16 / 0.3, 0.04 / 0.3, 0.09 / 0.3});
  expect_shares({.temperature = 0}, {0, 1, 0, 0});
}

TEST(Pick, TopKKeepsTheKMostLikely) { expect_shares({.top_k = 2}, {0, 4. / 7, 0, 3. / 7}); }

TEST(Pick, TopPKeepsTheFewestThatReachIt) {
  expect_shares({.top_p = 0.6F}, {0, 4. / 7, 0, 3. / 7});
  expect_shares({.top_p = 0.75F}, {0, 4. / 9, 2. / 9, 3. / 9});
  expect_shares({.top_p = 0.01F}, {0, 1, 0, 0});
}

class Generate : public ::testing::Test {
 protected:
  Generate() { models::write_random(device_.command_queue(0), model_.parameters(), 1); }

  std::string write(std::string_view prompt, std::int64_t count, const Sampling& sampling = {}) {
    return generate(*window_reader(device_, model_), tokenizer_, prompt, count, sampling);
  }

  host::HostDevice device_;
  CharacterTokenizer tokenizer_{std::string_view("abcdefgh")};
  models::NanoGpt model_{device_,
                         {.batch = 3,
                          .sequence = 8,
                          .width = 32,
                          .heads = 2,
                          .layers = 1,
                          .vocabulary = tokenizer_.vocabulary(),
                          .parameters = DataType::float32,
                          .compute = DataType::float32}};
};

TEST_F(Generate, WritesCharactersOfTheTextBeyondTheWindow) {
  const std::string text = write("ab", 30);
  EXPECT_EQ(text.size(), 30U);
  EXPECT_EQ(text.find_first_not_of("abcdefgh"), std::string::npos) << text;
}

TEST_F(Generate, DependsOnTheSeedAndThePrompt) {
  EXPECT_EQ(write("ab", 20, {.seed = 3}), write("ab", 20, {.seed = 3}));
  EXPECT_NE(write("ab", 20, {.seed = 3}), write("ab", 20, {.seed = 4}));
}

TEST_F(Generate, OnlyTheEndOfALongPromptCounts) {
  EXPECT_EQ(write("aaaahgfedcba", 10, {.seed = 3}), write("hgfedcba", 10, {.seed = 3}));
}

TEST_F(Generate, RefusesBadPromptsAndSettings) {
  EXPECT_THROW(write("", 1), Error);
  EXPECT_THROW(write("xyz", 1), Error);
  EXPECT_THROW(write("a", 1, {.temperature = -1}), Error);
  EXPECT_THROW(write("a", 1, {.temperature = std::nanf("")}), Error);
  EXPECT_THROW(write("a", 1, {.top_k = -1}), Error);
  EXPECT_THROW(write("a", 1, {.top_p = 0}), Error);
  EXPECT_THROW(write("a", 1, {.top_p = 1.5F}), Error);
}

class BrokenReader final : public TextReader {
 public:
  std::vector<float> logits(std::span<const std::uint32_t> /*text*/) override {
    return {0, std::nanf(""), 1};
  }
};

TEST(Generator, LogitsThatAreNotFiniteWriteNothing) {
  BrokenReader reader;
  const WrittenTokens written{.range = {0, 3}, .ends = {}};
  EXPECT_THROW(continue_text(reader, {1}, 5, {.temperature = 0}, written, {}), Error);
}

}  // namespace
}  // namespace howard::language
