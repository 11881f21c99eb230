// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/matmul/matmul_rules.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "engines/chip/kernels/matmul/matmul_cost.h"
#include "engines/program/matmul_config.h"
#include "tests/error_of.h"

namespace howard::chip {
namespace {

constexpr CoreGrid kWorker{8, 7};
constexpr Bytes kCircularBuffers{1'401'856};

/// Why the configuration is refused for `problem`; empty where it is not.
std::string objection(const MatmulProblem& problem, const std::string& config) {
  return matmul_objection(problem, parse_matmul_config(config), kWorker).value_or("");
}

TEST(MatmulRules, SayWhatDoesNotFitInWords) {
  const MatmulProblem square{.m = 128, .k = 128, .n = 128};
  const std::string good = "2d:grid=8x7:per_core=20x16:in0_block_w=8:out_block=10x8";
  EXPECT_EQ(objection(square, good), "");
  EXPECT_EQ(objection(square, "2d:grid=8x7:per_core=20x16:in0_block_w=3"),
            "Kt must be divisible by in0_block_w: Kt is 128, in0_block_w 3");
  EXPECT_EQ(objection(square, "2d:grid=8x7:per_core=20x16:in0_block_w=8:out_block=7x8"),
            "per_core_M must be divisible by out_block_h: per_core_M is 20, out_block_h 7");
  EXPECT_EQ(objection(square,
                      "2d:grid=8x7:per_core=20x16:in0_block_w=8:out_block=10x8:"
                      "out_subblock=4x2"),
            "out_block_h must be divisible by out_subblock_h: out_block_h is 10, out_subblock_h 4");
  EXPECT_EQ(objection(square, "2d:grid=8x8:per_core=16x16:in0_block_w=8"),
            "compute_with_storage_grid_size 8x8 is larger than the 8x7 cores that there are");
  EXPECT_EQ(objection(square, "2d:grid=8x7:per_core=18x16:in0_block_w=8"),
            "Mt 128 in shares of per_core_M 18 are 8 blocks, and there are 7 rows of cores");
  EXPECT_EQ(objection(square, "2d:grid=8x7:per_core=16x19:in0_block_w=8:transpose_mcast=yes"), "");
  EXPECT_EQ(objection(square, "1d_in0:grid=8x7:per_core=64x3:in0_block_w=8"),
            "with mcast_in0 every core has all rows: per_core_M is 64, Mt 128");
  EXPECT_EQ(objection(square, "1d_in0:grid=8x7:per_core=128x2:in0_block_w=8"),
            "Nt 128 in shares of per_core_N 2 are 64 blocks, and there are 56 cores");
  EXPECT_EQ(objection(square, "1d_in1:grid=8x7:per_core=3x128:in0_block_w=8"), "");
  EXPECT_EQ(objection(square, "1d_in1:grid=8x7:per_core=3x64:in0_block_w=8"),
            "without mcast_in0 every core has all columns: per_core_N is 64, Nt 128");
  EXPECT_EQ(objection(square, "reuse:grid=8x7:per_core=16x64:in0_block_w=1"),
            "per_core_N must be Nt: per_core_N is 64, Nt 128");
  EXPECT_EQ(objection(square, "1d_in1:grid=8x7:per_core=3x128:in0_block_w=8:transpose_mcast=yes"),
            "transpose_mcast is a field of the 2D multicast program config only");
}

/// A product of one row of tiles whose weights lie in 12 banks.
MatmulProblem decode_problem() {
  return {.m = 1,
          .k = 128,
          .n = 192,
          .in0 = Storage::l1,
          .out = Storage::l1,
          .in0_shards = Sharding{ShardLayout::width, {8, 4}, 32, 128},
          .in1_shards = Sharding{ShardLayout::width, {12, 1}, 4096, 512},
          .out_shards = Sharding{ShardLayout::width, {8, 4}, 32, 192}};
}

TEST(MatmulRules, DramShardedWeightsNeedShardsOfEveryOperand) {
  const std::string config = "dram_sharded:per_core=1x6:in0_block_w=4";
  MatmulProblem problem = decode_problem();
  EXPECT_EQ(objection(problem, config), "");
  EXPECT_EQ(objection(problem, "dram_sharded:per_core=1x6:in0_block_w=8"),
            "shard_shape[1] / in0_tile_width must be divisible by in0_block_w: shard_shape[1] / "
            "in0_tile_width is 4, in0_block_w 8");
  EXPECT_EQ(objection(problem, "dram_sharded:per_core=2x6:in0_block_w=4"),
            "M == per_core_M: Mt is 1, per_core_M 2");
  EXPECT_EQ(
      objection(problem, "dram_sharded:per_core=1x5:in0_block_w=4"),
      "Nt 192 in shares of per_core_N 5 are 39 blocks, and there are 32 cores with a shard of "
      "A");
  problem.in1_shards.reset();
  EXPECT_EQ(objection(problem, config),
            "input_tensor_b.memory_config().memory_layout() == WIDTH_SHARDED, in DRAM");
  problem.in0_shards.reset();
  EXPECT_EQ(objection(problem, config),
            "input_tensor_a.memory_config().memory_layout() == WIDTH_SHARDED, in L1");
  MatmulProblem tall = decode_problem();
  tall.m = 2;
  EXPECT_EQ(objection(tall, config),
            "currently only support in0 tensor height of tile height: Mt is 2");
}

TEST(MatmulRules, AShardedAFitsOnlyItsOwnKernel) {
  const MatmulProblem width = decode_problem();
  EXPECT_EQ(objection(width, "1d_in0:grid=8x7:per_core=1x4:in0_block_w=4"), "");
  EXPECT_NE(objection(width, "1d_in0:grid=8x7:per_core=1x4:in0_block_w=8"), "");
  EXPECT_NE(objection(width, "1d_in0:grid=8x7:per_core=1x4:in0_block_w=4:fuse_batch=no"), "");
  EXPECT_NE(objection(width, "1d_in1:grid=8x7:per_core=1x192:in0_block_w=4"), "");
  EXPECT_NE(objection(width, "multi_core"), "");
  MatmulProblem height = {.m = 64, .k = 4, .n = 4, .in0 = Storage::l1};
  height.in0_shards = Sharding{ShardLayout::height, {8, 4}, 64, 128};
  EXPECT_EQ(objection(height, "1d_in1:grid=8x4:per_core=2x4:in0_block_w=4"), "");
  EXPECT_EQ(objection(height, "1d_in1:grid=8x4:per_core=4x4:in0_block_w=4"),
            "per_core_M == shard_shape[0] / TILE_HEIGHT: per_core_M is 4, the shards 2");
  EXPECT_NE(objection(height, "1d_in0:grid=8x4:per_core=64x4:in0_block_w=4:gather_in0=yes"), "");
}

TEST(MatmulRules, TheDestinationRegistersHoldEightTilesOrFourOfFp32) {
  MatmulProblem problem{.m = 16, .k = 16, .n = 16};
  const std::string eight = "2d:grid=4x4:per_core=4x4:in0_block_w=4:out_subblock=2x4";
  EXPECT_EQ(objection(problem, eight), "");
  EXPECT_NE(objection(problem, "2d:grid=4x4:per_core=4x4:in0_block_w=4:out_subblock=4x4"), "");
  problem.compute.fp32_accumulation = true;
  EXPECT_EQ(objection(problem, eight),
            "out_subblock_h * out_subblock_w is 8 tiles and needs to be at most 4 to fit in "
            "hardware (8, or 4 with fp32_dest_acc_en)");
}

TEST(MatmulRules, ABatchOfBIsNeitherFusedNorSharedByReuse) {
  MatmulProblem problem{.batch = 4, .m = 8, .k = 4, .n = 8};
  const std::string fused = "2d:grid=8x4:per_core=8x1:in0_block_w=4";
  EXPECT_EQ(objection(problem, fused), "");
  EXPECT_EQ(objection(problem, "reuse:grid=8x7:per_core=8x8:in0_block_w=1"),
            "Batch broadcasting is not supported for the chosen program config: A and B both need "
            "the batch");
  problem.batched_b = true;
  EXPECT_EQ(objection(problem, fused),
            "fuse_batch makes the batch of A rows of one matrix, and B has a batch too");
  EXPECT_EQ(objection(problem, fused + ":fuse_batch=no"), "");
  EXPECT_EQ(objection(problem, "reuse:grid=8x7:per_core=8x8:in0_block_w=1"), "");
  EXPECT_EQ(objection(problem, "reuse:grid=8x7:per_core=16x8:in0_block_w=1"), "");
}

TEST(MatmulRules, AShareIsNoLargerThanTheResult) {
  // tt-metal#51550: such shares hang or give wrong values.
  const MatmulProblem problem{.m = 4, .k = 64, .n = 64};
  const std::string rest = ":in0_block_w=2:out_subblock=1x1";
  EXPECT_EQ(objection(problem, "2d:grid=8x4:per_core=7x8" + rest),
            "per_core_M must be at most Mt: per_core_M is 7, Mt 4");
  EXPECT_EQ(objection(problem, "2d:grid=8x4:per_core=1x80" + rest),
            "per_core_N must be at most Nt: per_core_N is 80, Nt 64");
  EXPECT_EQ(objection(problem, "2d:grid=8x4:per_core=1x8" + rest), "");
}

TEST(MatmulRules, ABatchThatIsNotFusedHasNoShardsOfItsResult) {
  // tt-metal#42572: such a product hangs.
  MatmulProblem problem{.batch = 4, .batched_b = true, .m = 1, .k = 90, .n = 180};
  const std::string config = "2d:grid=6x4:per_core=1x30:in0_block_w=2:fuse_batch=no";
  EXPECT_EQ(objection(problem, config), "");
  problem.out = Storage::l1;
  problem.out_shards = Sharding{ShardLayout::block, {6, 4}, 32, 960};
  EXPECT_EQ(objection(problem, config),
            "fuse_batch must be true for a sharded output: the shards of a batch are one matrix");
}

TEST(MatmulRules, ARefusedConfigurationIsAnErrorWithTheReason) {
  MatmulProblem problem{.m = 4, .k = 4, .n = 4};
  problem.config = parse_matmul_config("2d:grid=4x4:per_core=1x1:in0_block_w=3");
  const ErrorText refusal =
      error_parts_of([&] { plan_matmul(problem, kWorker, kCircularBuffers); });
  EXPECT_EQ(refusal.value, "Kt must be divisible by in0_block_w: Kt is 4, in0_block_w 3");
  problem.config = parse_matmul_config("2d:grid=4x4:per_core=1x1:in0_block_w=2");
  problem.core_grid = CoreGrid{4, 4};
  EXPECT_THROW(plan_matmul(problem, kWorker, kCircularBuffers), Error);
}

TEST(MatmulRules, AConfigurationAloneRunsInLoFi) {
  MatmulProblem problem{.m = 4, .k = 4, .n = 4};
  problem.config = parse_matmul_config("2d:grid=4x4:per_core=1x1:in0_block_w=2");
  EXPECT_EQ(plan_matmul(problem, kWorker, kCircularBuffers).fidelity, MathFidelity::lofi);
  problem.compute.fidelity = MathFidelity::hifi4;
  EXPECT_EQ(plan_matmul(problem, kWorker, kCircularBuffers).fidelity, MathFidelity::hifi4);
}

TEST(MatmulRules, TheConfigurationThatTtnnChoosesIsLegalAndTheSame) {
  for (const std::int64_t m : {1, 5, 16, 33, 128}) {
    for (const std::int64_t n : {1, 8, 37, 128}) {
      MatmulProblem problem{.m = m, .k = 24, .n = n};
      const MatmulPlan own = plan_matmul(problem, kWorker, kCircularBuffers);
      problem.config = config_of(own);
      problem.compute.fidelity = own.fidelity;
      EXPECT_EQ(plan_matmul(problem, kWorker, kCircularBuffers).text(), own.text());
    }
  }
}

SimTime kernel_time(const MatmulProblem& problem) {
  static const Profiles kBuiltIn = load_profiles();
  const MatmulPlan plan = plan_matmul(problem, kWorker, kCircularBuffers);
  return matmul_cost(plan, kBuiltIn).kernel.total;
}

MatmulProblem with_config(const std::string& config) {
  return {.m = 64, .k = 64, .n = 64, .config = parse_matmul_config(config)};
}

// What each mechanism costs, seen in the price of one product whose other choices stay the same.

TEST(MatmulMechanisms, NarrowBlocksReadAAgainForEachColumnOfBlocks) {
  const std::string share = "2d:grid=8x7:per_core=10x8:in0_block_w=4";
  const SimTime whole = kernel_time(with_config(share));
  const SimTime strips = kernel_time(with_config(share + ":out_block=10x1"));
  EXPECT_GT(strips.ps(), 2 * whole.ps());
}

TEST(MatmulMechanisms, LargeSubBlocksUnpackLess) {
  const std::string share = "2d:grid=8x7:per_core=10x8:in0_block_w=4";
  EXPECT_LT(kernel_time(with_config(share + ":out_subblock=2x4")),
            kernel_time(with_config(share + ":out_subblock=1x1")));
}

TEST(MatmulMechanisms, AnOperandInL1IsReadFasterThanByAColumnOfCoresFromDram) {
  MatmulProblem problem = with_config("2d:grid=8x7:per_core=10x8:in0_block_w=4:out_block=10x1");
  const SimTime dram = kernel_time(problem);
  problem.in0 = Storage::l1;
  EXPECT_LT(kernel_time(problem), dram);
}

TEST(MatmulMechanisms, AFusedGeluCostsAndAFusedReluDoesNot) {
  MatmulProblem problem = with_config("2d:grid=8x7:per_core=10x8:in0_block_w=4");
  const SimTime plain = kernel_time(problem);
  problem.activation = Eltwise::relu;
  EXPECT_EQ(kernel_time(problem), plain);
  problem.activation = Eltwise::gelu;
  EXPECT_GT(kernel_time(problem), plain);
}

TEST(MatmulMechanisms, WithoutAMulticastEveryTileIsReadForEveryTileOfTheResult) {
  const SimTime shared = kernel_time(with_config("2d:grid=8x7:per_core=10x8:in0_block_w=4"));
  EXPECT_GT(kernel_time(with_config("multi_core")).ps(), 5 * shared.ps());
}

TEST(MatmulMechanisms, DramTrafficLeavesOutWhatLiesInL1) {
  const Profiles profiles = load_profiles();
  const auto traffic = [&](Storage in0, Storage in1, Storage out) {
    MatmulProblem problem = with_config("2d:grid=8x7:per_core=10x8:in0_block_w=4");
    problem.in0 = in0;
    problem.in1 = in1;
    problem.out = out;
    const MatmulPlan plan = plan_matmul(problem, kWorker, kCircularBuffers);
    return matmul_cost(plan, profiles).kernel.dram;
  };
  const Bytes all = traffic(Storage::dram, Storage::dram, Storage::dram);
  const Bytes parts = traffic(Storage::dram, Storage::l1, Storage::l1) +
                      traffic(Storage::l1, Storage::dram, Storage::l1) +
                      traffic(Storage::l1, Storage::l1, Storage::dram);
  EXPECT_EQ(parts, all);
  EXPECT_EQ(traffic(Storage::l1, Storage::l1, Storage::l1), Bytes());
}

TEST(MatmulPlanner, WithAnOperandInL1TtnnTakesLargeBlocksOrNoMulticastAtAll) {
  MatmulProblem problem{.m = 32, .k = 32, .n = 64, .in0 = Storage::l1};
  const MatmulPlan few = plan_matmul(problem, kWorker, kCircularBuffers);
  EXPECT_EQ(few.config.kind, MatmulKind::multicast_2d);
  EXPECT_EQ(few.config.per_core_m, 16);
  EXPECT_EQ(few.active_cores(), 8);
  problem.m = problem.n = 128 + 16;
  EXPECT_EQ(plan_matmul(problem, kWorker, kCircularBuffers).config.kind, MatmulKind::multi_core);
}

}  // namespace
}  // namespace howard::chip
