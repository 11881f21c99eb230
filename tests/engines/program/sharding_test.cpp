// SPDX-License-Identifier: Apache-2.0
#include "engines/program/sharding.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "engines/program/tensor_spec.h"
#include "tests/error_of.h"

namespace howard {
namespace {

TensorSpec sharded(const Shape& shape, const Sharding& sharding) {
  return {.shape = shape, .storage = Storage::l1, .sharding = sharding};
}

/// What ttnn accepts instead; "" for a legal tensor.
std::string refusal(const TensorSpec& spec) {
  return error_parts_of([&] { require_legal_shards(spec); }).accepted;
}

TEST(Sharding, LegalShardsOfEachLayout) {
  EXPECT_EQ(refusal({.shape = {64, 64}}), "");
  EXPECT_EQ(refusal(sharded({2, 1, 256, 64}, {ShardLayout::height, {8, 2}, 32, 64})), "");
  EXPECT_EQ(refusal(sharded({64, 512}, {ShardLayout::width, {8, 2}, 64, 32})), "");
  EXPECT_EQ(refusal(sharded({256, 256}, {ShardLayout::block, {4, 8}, 32, 64})), "");
  EXPECT_EQ(refusal(sharded({256, 512}, {ShardLayout::block, {8, 4}, 32, 128, true})), "");
}

TEST(Sharding, RefusalsAreTtnns) {
  const auto says = [](const TensorSpec& spec, const std::string& words) {
    EXPECT_NE(refusal(spec).find(words), std::string::npos) << refusal(spec);
  };
  says(sharded({256, 64}, {ShardLayout::height, {8, 1}, 32, 32}),
       "Shard width 32 must match physical width 64 for height sharded");
  says(sharded({512, 64}, {ShardLayout::height, {8, 1}, 32, 64}),
       "Number of shards along height 16 must not exceed number of cores 8");
  says(sharded({64, 256}, {ShardLayout::width, {8, 1}, 32, 32}),
       "Shard height 32 must match physical height 64 for width sharded");
  says(sharded({64, 512}, {ShardLayout::width, {8, 1}, 64, 32}),
       "Number of shards along width 16 must not exceed number of cores 8");
  says(sharded({256, 64}, {ShardLayout::block, {8, 4}, 32, 32}),
       "Number of shards along height 8 must not exceed number of rows 4 for row major");
  says(sharded({64, 512}, {ShardLayout::block, {8, 4}, 32, 32}),
       "Number of shards along width 16 must not exceed number of columns 8 for row major");
  says(sharded({256, 64}, {ShardLayout::height, {8, 1}, 48, 64}), "must be tile");
  TensorSpec dram = sharded({256, 64}, {ShardLayout::height, {8, 1}, 32, 64});
  dram.storage = Storage::dram;
  EXPECT_EQ(refusal(dram), "");
  dram.sharding->grid = {4, 2};
  says(dram, "in one row of banks");
}

TEST(Sharding, ItsTextReadsBackAsTheSame) {
  for (const char* const text :
       {"height:8x4:32x512", "width:12x1:4096x512", "block:8x8:64x32:column_major"}) {
    const auto shards = parse_sharding(text);
    ASSERT_TRUE(shards) << text;
    EXPECT_EQ(short_text(*shards), text);
  }
  for (const char* const text : {"", "height", "depth:8x4:32x32", "height:8:32x32",
                                 "height:0x1:32x32", "height:65x1:32x32", "width:8x4:32x32:row"}) {
    EXPECT_FALSE(parse_sharding(text)) << text;
  }
}

TEST(Sharding, TheLastShardNeedNotBeFull) {
  const TensorSpec spec = sharded({33, 64}, {ShardLayout::height, {8, 1}, 32, 64});
  EXPECT_EQ(refusal(spec), "");
  EXPECT_EQ(shards_of(spec), 2);  // 33 rows are padded to 64
}

}  // namespace
}  // namespace howard
