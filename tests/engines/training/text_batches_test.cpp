// SPDX-License-Identifier: Apache-2.0
#include "engines/training/text_batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "base/error.h"

namespace howard::training {
namespace {

std::vector<std::uint32_t> counted(std::uint32_t size) {
  std::vector<std::uint32_t> text(size);
  std::iota(text.begin(), text.end(), 0U);
  return text;
}

/// Returns the first tokens of the samples of a batch.
std::vector<std::uint32_t> starts(const Batch& batch, std::size_t sequence) {
  std::vector<std::uint32_t> result;
  for (std::size_t i = 0; i < batch.tokens.size(); i += sequence) result.push_back(batch.tokens[i]);
  return result;
}

TEST(TextBatches, TargetsAreTheTokensBehind) {
  TextBatches batches(counted(50), 4, 8, 1);
  const Batch batch = batches.batch(3);
  ASSERT_EQ(batch.tokens.size(), 32U);
  ASSERT_EQ(batch.targets.size(), 32U);
  for (std::size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(batch.targets[i], batch.tokens[i] + 1);
    const bool first = i % 8 == 0;
    EXPECT_TRUE(first || batch.tokens[i] == batch.tokens[i - 1] + 1) << i;
  }
}

TEST(TextBatches, LabelledSamplesLieOneAfterTheOtherWithTheirLabelBehind) {
  TextBatches batches(counted(60), 2, 5, 1, SampleForm::labelled);
  EXPECT_EQ(batches.samples(), 10);
  std::set<std::uint32_t> first;
  for (int number = 0; number < 5; ++number) {
    const Batch batch = batches.batch(number);
    ASSERT_EQ(batch.tokens.size(), 10U);
    ASSERT_EQ(batch.targets.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(batch.tokens[5 * i] % 6, 0U);
      EXPECT_EQ(batch.targets[i], batch.tokens[5 * i] + 5);
      EXPECT_TRUE(first.insert(batch.tokens[5 * i]).second) << "each sample once";
    }
  }
  EXPECT_THROW(TextBatches(counted(60), 11, 5, 1, SampleForm::labelled), Error);
}

TEST(TextBatches, AnEpochTakesEachWindowOnceButTheIncompleteBatch) {
  TextBatches batches(counted(50), 4, 8, 1);
  EXPECT_EQ(batches.samples(), 42);
  EXPECT_EQ(batches.batches_in_epoch(), 10);
  std::set<std::uint32_t> seen;
  for (int i = 0; i < 10; ++i) {
    for (const std::uint32_t start : starts(batches.batch(i), 8)) {
      EXPECT_LT(start, 42U);
      EXPECT_TRUE(seen.insert(start).second) << start;
    }
  }
  EXPECT_NE(starts(batches.batch(0), 8), starts(batches.batch(10), 8)) << "another order";
}

TEST(TextBatches, ABatchDependsOnItsNumberAndTheSeedOnly) {
  TextBatches all(counted(50), 4, 8, 1);
  for (int i = 0; i < 17; ++i) static_cast<void>(all.batch(i));
  TextBatches one(counted(50), 4, 8, 1);
  EXPECT_EQ(one.batch(17).tokens, all.batch(17).tokens);
  EXPECT_EQ(one.batch(2).tokens, all.batch(2).tokens);
  TextBatches other(counted(50), 4, 8, 2);
  EXPECT_NE(other.batch(2).tokens, all.batch(2).tokens);
}

TEST(TextBatches, ATextShorterThanASequenceOrABatchIsAnError) {
  EXPECT_THROW(TextBatches(counted(8), 1, 8, 1), Error);
  EXPECT_THROW(TextBatches({}, 1, 8, 1), Error);
  EXPECT_THROW(TextBatches(counted(11), 4, 8, 1), Error);
  EXPECT_EQ(TextBatches(counted(12), 4, 8, 1).batches_in_epoch(), 1);
}

}  // namespace
}  // namespace howard::training
