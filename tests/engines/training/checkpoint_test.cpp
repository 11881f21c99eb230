// SPDX-License-Identifier: Apache-2.0
#include "engines/training/checkpoint.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/checksum.h"
#include "base/error.h"

namespace howard::training {
namespace {

Checkpoint example() {
  Checkpoint checkpoint{.step = 17, .text_checksum = 5, .characters = {"a", "€"}, .tensors = {}};
  checkpoint.recipe.model.compute = DataType::float32;
  checkpoint.recipe.schedule.schedule = autograd::Schedule::warmup_linear;
  checkpoint.recipe.optimizer.learning_rate = 0.1F / 3;
  checkpoint.recipe.seed = 4'000'000'000U;
  checkpoint.tensors = {{"weight", {1.5F, -2, 1e-38F}}, {"bias", {}}};
  return checkpoint;
}

/// Returns what the Error says is wrong; empty if there is none.
std::string problem(const std::string& bytes) {
  try {
    static_cast<void>(parse_checkpoint(bytes, "a.ckpt"));
  } catch (const Error& failure) {
    EXPECT_EQ(failure.text().attempted, "read checkpoint a.ckpt");
    return failure.text().value;
  }
  return "";
}

TEST(Checkpoint, ReadsBackTheSame) {
  EXPECT_EQ(parse_checkpoint(checkpoint_bytes(example()), "a.ckpt"), example());
  EXPECT_EQ(checkpoint_bytes(example()), checkpoint_bytes(example()));
}

TEST(Checkpoint, ChecksumIsThatOfZip) { EXPECT_EQ(checksum("123456789"), 0xCBF43926U); }

TEST(Checkpoint, EveryTruncationIsFound) {
  const std::string bytes = checkpoint_bytes(example());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(problem(bytes.substr(0, size)), "") << size;
  }
  EXPECT_NE(problem(bytes + "x"), "");
}

TEST(Checkpoint, EveryFlippedBitIsFound) {
  const std::string bytes = checkpoint_bytes(example());
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] =
        static_cast<char>(static_cast<unsigned char>(flipped[bit / 8]) ^ (1U << (bit % 8)));
    EXPECT_NE(problem(flipped), "") << "bit " << bit;
  }
}

TEST(Checkpoint, TheWaysOfProductsInAnOlderOneAreReadAndForgotten) {
  constexpr std::size_t kLength = 12, kHeader = 20;  // The settings begin with their length.
  const std::string line = "product_ways=plain=one\n";
  std::string bytes = checkpoint_bytes(example());
  const auto lengthen = [&](std::size_t place) {
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data() + place, sizeof(length));
    length += line.size();
    std::memcpy(bytes.data() + place, &length, sizeof(length));
  };
  lengthen(kLength);
  lengthen(kHeader);
  bytes.insert(kHeader + sizeof(std::uint64_t), line);
  const std::size_t end = bytes.size() - sizeof(std::uint32_t);
  const std::uint32_t sum = checksum(std::string_view(bytes).substr(0, end));
  std::memcpy(bytes.data() + end, &sum, sizeof(sum));
  EXPECT_EQ(parse_checkpoint(bytes, "a.ckpt"), example());
}

TEST(Checkpoint, AnotherVersionAndAnotherFileAreNamed) {
  std::string bytes = checkpoint_bytes(example());
  bytes[8] = 2;
  EXPECT_EQ(problem(bytes), "version 2");
  EXPECT_EQ(problem("{\"schema\": \"howard.result/1\"}"), "it is none");
  EXPECT_EQ(problem(""), "it is none");
}

}  // namespace
}  // namespace howard::training
