// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/matmul/matmul_selector.h"

#include <gtest/gtest.h>

#include <string>

#include "engines/chip/kernels/lowering.h"
#include "engines/chip/kernels/matmul/matmul_planner.h"

namespace howard::chip {
namespace {

constexpr CoreGrid kAll{8, 8};
constexpr Bytes kBudget{1'331'200};

std::string selected(const MatmulProblem& problem, Bytes l1 = kBudget) {
  const auto config = select_config(problem, kAll, l1, {}, load_profiles().chip);
  return config ? text_of(*config) : "none";
}

// The rules are those of tt-metal's matmul_auto_config and its roofline_estimator, as of November
// 2026.

TEST(MatmulSelector, TheLowestRooflineIsTaken) {
  // One row of tiles: all cores share A, and each reads columns of B.
  EXPECT_EQ(selected({.m = 1, .k = 64, .n = 256}),
            "1d_in0:grid=8x8:per_core=1x4:in0_block_w=8:out_subblock=1x4");
  // One column of tiles: all share B.
  EXPECT_EQ(selected({.m = 640, .k = 8, .n = 1}),
            "1d_in1:grid=8x8:per_core=10x1:in0_block_w=4:out_subblock=5x1");
  // A square that would receive more of A or of B in one dimension.
  EXPECT_EQ(selected({.m = 64, .k = 64, .n = 64}),
            "2d:grid=8x8:per_core=8x8:in0_block_w=8:out_subblock=2x4");
}

TEST(MatmulSelector, BatchesOfBothAreReusedOrLooped) {
  EXPECT_EQ(selected({.batch = 256, .batched_b = true, .m = 4, .k = 8, .n = 4}).substr(0, 5),
            "reuse");
  EXPECT_EQ(selected({.batch = 2, .batched_b = true, .m = 32, .k = 32, .n = 32}).substr(0, 2),
            "2d");
}

TEST(MatmulSelector, ShardsSayFamilyAndShare) {
  MatmulProblem width{.m = 1, .k = 64, .n = 128, .in0 = Storage::l1};
  width.in0_shards = Sharding{ShardLayout::width, {8, 4}, 32, 64};
  EXPECT_EQ(selected(width), "1d_in0:grid=8x8:per_core=1x2:in0_block_w=2:out_subblock=1x2");
  MatmulProblem height{.m = 128, .k = 8, .n = 8, .out = Storage::l1};
  height.out_shards = Sharding{ShardLayout::height, {8, 8}, 64, 256};
  EXPECT_EQ(selected(height), "1d_in1:grid=8x8:per_core=2x8:in0_block_w=4:out_subblock=2x4");
  MatmulProblem block{.m = 64, .k = 64, .n = 64, .in0 = Storage::l1};
  block.in0_shards = Sharding{ShardLayout::block, {8, 8}, 256, 256, true};
  EXPECT_NE(selected(block).find("transpose_mcast"), std::string::npos);
}

TEST(MatmulSelector, AWideBlockIsCutToASubblock) {
  EXPECT_EQ(selected({.m = 1, .k = 80, .n = 8192}),
            "1d_in0:grid=8x8:per_core=1x128:in0_block_w=8:out_block=1x8:out_subblock=1x8");
  EXPECT_EQ(selected({.m = 64, .k = 64, .n = 64}, Bytes(20'000)), "none");
}

TEST(MatmulSelector, TheSoftwareSaysWhichRulesThereAre) {
  const TensorSpec a{{2048, 4096}}, b{{4096, 4096}};
  const Program program = make_program(MatmulAttributes{}, {a, b});
  const auto config_by = [&](const char* rules) {
    const Profiles profiles = load_profiles(
        {.profiles = {}, .settings = {std::string("matmul.legacy_selection=") + rules}});
    return text_of(lower(program, kAll, profiles).at(0).matmul->config);
  };
  // The older rules keep K's step, a row of cores' share of 16 tiles, and cut the block.
  EXPECT_NE(config_by("1count").find("in0_block_w=16"), std::string::npos) << config_by("1count");
  EXPECT_NE(config_by("0count").find("in0_block_w=8"), std::string::npos) << config_by("0count");
}

}  // namespace
}  // namespace howard::chip
