// SPDX-License-Identifier: Apache-2.0
//
// The expected configurations were worked out by hand from ttnn's rules for square bf16 products
// (docs/method/matmul.md, "Matmul planner"), not recorded from this program.
#include "engines/chip/kernels/matmul/matmul_planner.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace howard::chip {
namespace {

constexpr Bytes kCircularBuffers{1'401'856};
constexpr CoreGrid kWorker{8, 7};
constexpr CoreGrid kEth{8, 8};

MatmulProblem product(std::int64_t m, std::int64_t k, std::int64_t n) {
  return {.m = ceil_div(m, 32), .k = ceil_div(k, 32), .n = ceil_div(n, 32)};
}

MatmulPlan plan(const MatmulProblem& problem, CoreGrid grid) {
  return plan_matmul(problem, grid, kCircularBuffers);
}

struct Expected {
  std::int64_t n;
  CoreGrid grid;
  std::int64_t per_core_m, per_core_n, k;
  std::int64_t block_h, block_w;
  std::int64_t subblock_h, subblock_w;
};

std::string name(const ::testing::TestParamInfo<Expected>& info) {
  const Expected& row = info.param;
  return "n" + std::to_string(row.n) + "_" + std::to_string(row.grid.columns) + "x" +
         std::to_string(row.grid.rows);
}

void expect_plan(const MatmulPlan& actual, const Expected& row) {
  EXPECT_EQ(actual.config.kind, MatmulKind::multicast_2d);
  EXPECT_EQ(actual.config.per_core_m, row.per_core_m);
  EXPECT_EQ(actual.config.per_core_n, row.per_core_n);
  EXPECT_EQ(actual.config.in0_block_w, row.k);
  EXPECT_EQ(actual.config.out_block_h, row.block_h);
  EXPECT_EQ(actual.config.out_block_w, row.block_w);
  EXPECT_EQ(actual.config.subblock_h, row.subblock_h);
  EXPECT_EQ(actual.config.subblock_w, row.subblock_w);
}

class DefaultConfiguration : public ::testing::TestWithParam<Expected> {};

TEST_P(DefaultConfiguration, FollowsTheRules) {
  const Expected& row = GetParam();
  const MatmulPlan actual = plan(product(row.n, row.n, row.n), row.grid);
  expect_plan(actual, row);
  EXPECT_EQ(actual.fidelity, MathFidelity::hifi2);
}

INSTANTIATE_TEST_SUITE_P(SquareBf16, DefaultConfiguration,
                         ::testing::Values(Expected{128, kWorker, 1, 1, 1, 1, 1, 1, 1},
                                           Expected{128, kEth, 1, 1, 1, 1, 1, 1, 1},
                                           Expected{256, kWorker, 2, 1, 1, 2, 1, 2, 1},
                                           Expected{256, kEth, 1, 1, 1, 1, 1, 1, 1},
                                           Expected{512, kEth, 2, 2, 2, 2, 2, 2, 2},
                                           Expected{512, kWorker, 3, 2, 2, 3, 2, 3, 2},
                                           Expected{1024, kEth, 4, 4, 4, 4, 4, 4, 2},
                                           Expected{1024, kWorker, 5, 4, 4, 5, 4, 5, 1},
                                           Expected{2048, kEth, 8, 8, 8, 8, 8, 4, 2},
                                           Expected{2048, kWorker, 10, 8, 8, 10, 8, 2, 4},
                                           Expected{3072, kEth, 12, 12, 12, 6, 12, 2, 4},
                                           Expected{3072, kWorker, 14, 12, 12, 7, 12, 7, 1},
                                           Expected{4032, kEth, 16, 16, 1, 16, 16, 4, 2},
                                           Expected{4032, kWorker, 18, 16, 1, 18, 16, 2, 4},
                                           Expected{4096, kEth, 16, 16, 16, 8, 8, 4, 2},
                                           Expected{4096, kWorker, 19, 16, 16, 19, 1, 1, 1}),
                         name);

class CoreGridConfiguration : public ::testing::TestWithParam<Expected> {};

TEST_P(CoreGridConfiguration, FollowsTheRules) {
  const Expected& row = GetParam();
  MatmulProblem problem = product(row.n, row.n, row.n);
  problem.core_grid = row.grid;
  const MatmulPlan actual = plan(problem, row.grid);
  expect_plan(actual, row);
  EXPECT_EQ(actual.fidelity, MathFidelity::lofi) << "ttnn's default with a core grid";
}

INSTANTIATE_TEST_SUITE_P(SquareBf16, CoreGridConfiguration,
                         ::testing::Values(Expected{512, kEth, 2, 2, 4, 2, 2, 2, 2},
                                           Expected{512, kWorker, 3, 2, 4, 3, 2, 3, 2},
                                           Expected{1024, kEth, 4, 4, 4, 4, 4, 2, 4},
                                           Expected{1024, kWorker, 5, 4, 4, 5, 4, 1, 1},
                                           Expected{2048, kEth, 8, 8, 4, 8, 8, 1, 4},
                                           Expected{2048, kWorker, 10, 8, 4, 10, 8, 1, 4},
                                           Expected{3072, kEth, 12, 12, 4, 12, 12, 1, 4},
                                           Expected{3072, kWorker, 14, 12, 4, 14, 12, 1, 4},
                                           Expected{4096, kEth, 16, 16, 4, 8, 16, 1, 4},
                                           Expected{4096, kWorker, 19, 16, 4, 19, 8, 1, 8}),
                         name);

TEST(MatmulPlanner, OneRowOfBlocksGoesOneDimensional) {
  const MatmulPlan wide = plan(product(512, 1024, 1024), kEth);
  EXPECT_EQ(wide.config.kind, MatmulKind::multicast_1d_in0);
  EXPECT_EQ(wide.config.per_core_m, 16);
  EXPECT_EQ(wide.config.per_core_n, 1);
  EXPECT_EQ(wide.config.in0_block_w, 2);
  EXPECT_EQ(wide.active_cores(), 32);

  const MatmulPlan tall = plan(product(1024, 1024, 512), kEth);
  EXPECT_EQ(tall.config.kind, MatmulKind::multicast_1d_in1);
  EXPECT_EQ(tall.active_cores(), 32);
  EXPECT_EQ(tall.config.per_core_n, 16);
}

TEST(MatmulPlanner, NarrowOutputsGoOneDimensionalBySide) {
  EXPECT_EQ(plan(product(32, 1280, 1280), kEth).config.kind, MatmulKind::multicast_1d_in0);
  EXPECT_EQ(plan(product(1280, 1280, 32), kEth).config.kind, MatmulKind::multicast_1d_in1);
  EXPECT_EQ(plan(product(8192, 512, 512), kWorker).config.kind, MatmulKind::multicast_1d_in1);
  // A ratio of exactly 8 is not narrow yet, and its blocks (16 rows of them) are no grid.
  EXPECT_EQ(plan(product(8192, 512, 1024), kWorker).config.kind, MatmulKind::multicast_2d);
}

TEST(MatmulPlanner, OddKTakesStepsOfOneTileInOneDimension) {
  EXPECT_EQ(plan(product(32, 32 * 7, 1280), kEth).config.in0_block_w, 1);
  EXPECT_EQ(plan(product(32, 32 * 6, 1280), kEth).config.in0_block_w, 2);
}

TEST(MatmulPlanner, OnlyTheDefaultTwoDimensionalPlanShortensStepsOfK) {
  // 400 tiles of K a step do not fit L1 with even one tile of output, but 100 do.
  EXPECT_EQ(plan({.m = 32, .k = 8 * 400, .n = 32}, kEth).config.in0_block_w, 100);
  // With a core grid ttnn gives up at once and takes one tile in every direction.
  const MatmulPlan narrow = plan({.m = 1, .k = 56 * 400, .n = 32, .core_grid = kWorker}, kWorker);
  EXPECT_EQ(narrow.config.in0_block_w, 1);
  EXPECT_EQ(narrow.config.out_block_h * narrow.config.out_block_w, 1);
}

TEST(MatmulPlanner, ACoreGridLargerThanTheDeviceIsTheDevice) {
  MatmulProblem problem = product(1024, 1024, 1024);
  problem.core_grid = CoreGrid{8, 8};
  EXPECT_EQ(plan(problem, kWorker).config.grid, kWorker);
  problem.core_grid = CoreGrid{4, 7};
  EXPECT_EQ(plan(problem, kWorker).config.grid, (CoreGrid{4, 7}));
}

TEST(MatmulPlanner, OnlyACoreGridFoldsTheBatchIntoRows) {
  MatmulProblem problem = product(256, 384, 384);
  problem.batch = 32;
  EXPECT_EQ(plan(problem, kWorker).batch, 32);
  EXPECT_EQ(plan(problem, kWorker).m, 8);
  problem.core_grid = kWorker;
  EXPECT_EQ(plan(problem, kWorker).batch, 1);
  EXPECT_EQ(plan(problem, kWorker).m, 256);
  EXPECT_EQ(plan(problem, kWorker).config.per_core_m, 5);
}

/// Sequences of 256 rows by a weight with as many rows and columns, as TTML's nano_gpt multiplies
/// them.
MatmulPlan forward(std::int64_t sequences, std::int64_t k, std::int64_t n) {
  MatmulProblem problem = product(256, k, n);
  problem.batch = sequences;
  problem.core_grid = CoreGrid{7, 8};
  return plan(problem, kEth);
}

TEST(MatmulPlanner, ACoreGridJudgesAllRowsOfTheBatch) {
  // 64 sequences are 16384 rows: more than 8 times the 1536 columns of the widest weight.
  for (const auto& [k, n] : {std::pair(384, 1152), std::pair(384, 384), std::pair(384, 1536),
                             std::pair(1536, 384), std::pair(384, 96)}) {
    const MatmulPlan tall = forward(64, k, n);
    EXPECT_EQ(tall.config.kind, MatmulKind::multicast_1d_in1) << k << " by " << n;
    EXPECT_EQ(tall.config.per_core_m, 10) << "512 tiles over 56 cores";
    EXPECT_EQ(tall.config.per_core_n, n / 32);
    EXPECT_EQ(tall.config.in0_block_w, 1);
    EXPECT_EQ(tall.batch, 1);
  }
  // 32 sequences are 8192 rows: 7 times 1152, 5 times 1536 and 21 times 384.
  for (const std::int64_t n : {1152, 1536}) {
    const MatmulPlan two = forward(32, 384, n);
    EXPECT_EQ(two.config.kind, MatmulKind::multicast_2d) << n;
    EXPECT_EQ(two.config.per_core_m, 32) << "256 tiles over 8 rows of cores";
    EXPECT_EQ(two.config.in0_block_w, 4);
  }
  for (const auto& [k, n] : {std::pair(384, 384), std::pair(1536, 384), std::pair(384, 96)}) {
    EXPECT_EQ(forward(32, k, n).config.kind, MatmulKind::multicast_1d_in1) << k << " by " << n;
    EXPECT_EQ(forward(32, k, n).config.per_core_m, 5);
  }
}

TEST(MatmulPlanner, ASideOfOneTileIsThatOfOneMatrix) {
  // Eight matrices of one tile by eight columns are a square of tiles, and of one dimension still.
  MatmulProblem problem = product(32, 1024, 256);
  problem.batch = 8;
  problem.core_grid = kWorker;
  EXPECT_EQ(plan(problem, kWorker).config.kind, MatmulKind::multicast_1d_in0)
      << "not taller than wide";
  EXPECT_EQ(plan(problem, kWorker).config.per_core_m, 8);
  problem.batch = 9;
  EXPECT_EQ(plan(problem, kWorker).config.kind, MatmulKind::multicast_1d_in1);
  problem = product(64, 1024, 256);
  problem.batch = 4;
  problem.core_grid = kWorker;
  EXPECT_EQ(plan(problem, kWorker).config.kind, MatmulKind::multicast_2d);
}

TEST(MatmulPlanner, WithoutACoreGridOneMatrixIsJudged) {
  MatmulProblem problem = product(256, 384, 1536);
  const MatmulPlan one = plan(problem, kWorker);
  problem.batch = 64;
  EXPECT_EQ(plan(problem, kWorker).config.kind, one.config.kind);
  EXPECT_EQ(plan(problem, kWorker).m, 8);
}

TEST(MatmulPlanner, ASideOfOneTileIsNarrowByDefaultInDramAlone) {
  MatmulProblem problem = product(256, 1024, 32);
  EXPECT_EQ(plan(problem, kWorker).config.kind, MatmulKind::multicast_1d_in1);
  problem.out = Storage::l1;
  EXPECT_EQ(plan(problem, kWorker).config.kind, MatmulKind::multi_core) << "the ratio is 8";
  problem.m = 9;
  EXPECT_EQ(plan(problem, kWorker).config.kind, MatmulKind::multicast_1d_in1) << "the ratio is 9";
}

TEST(MatmulPlanner, BatchesOfBothWithACoreGridAreWholeProductsOfACore) {
  MatmulProblem problem = product(256, 64, 256);
  problem.batch = 192;
  problem.batched_b = true;
  problem.core_grid = kWorker;
  const MatmulPlan reuse = plan(problem, kWorker);
  EXPECT_EQ(reuse.config.kind, MatmulKind::reuse);
  EXPECT_EQ(reuse.active_cores(), 56);
  EXPECT_EQ(reuse.products(), 4) << "192 over 56";
  EXPECT_EQ(reuse.config.per_core_m * reuse.config.per_core_n, 64);
  EXPECT_EQ(reuse.config.in0_block_w, 1);
  EXPECT_EQ(reuse.config.subblock_h * reuse.config.subblock_w, 8);
  EXPECT_EQ(reuse.fidelity, MathFidelity::lofi);
  problem.batch = 20;
  EXPECT_EQ(plan(problem, kWorker).active_cores(), 20);
  EXPECT_EQ(plan(problem, kWorker).products(), 1);
}

TEST(MatmulPlanner, BatchesOfBothWithoutACoreGridAreLoopedOverTheSameCores) {
  MatmulProblem problem = product(256, 384, 384);
  problem.batch = 32;
  const MatmulPlan one = plan(problem, kWorker);
  problem.batched_b = true;
  const MatmulPlan both = plan(problem, kWorker);
  EXPECT_EQ(both.products(), 32);
  EXPECT_EQ(both.text(), one.text());
  // There are 20 products of one tile, which a single core runs.
  problem = product(32, 64, 32);
  problem.batch = 20;
  problem.batched_b = true;
  EXPECT_EQ(plan(problem, kEth).active_cores(), 1);
  EXPECT_EQ(plan(problem, kEth).products(), 20);
}

TEST(MatmulPlanner, AProductThatDoesNotFitOneCoreIsNoReuse) {
  MatmulProblem problem = product(2048, 64, 2048);  // 4096 tiles of output
  problem.batch = 4;
  problem.batched_b = true;
  problem.core_grid = CoreGrid{4, 4};
  EXPECT_EQ(plan(problem, kWorker).config.kind, MatmulKind::multicast_2d);
  EXPECT_EQ(plan(problem, kWorker).config.grid, (CoreGrid{4, 4})) << "ttnn's default on this grid";
  EXPECT_EQ(plan(problem, kWorker).products(), 4);
  problem = product(8192, 64, 512);
  problem.batch = 4;
  problem.batched_b = true;
  problem.core_grid = CoreGrid{4, 4};
  EXPECT_EQ(plan(problem, kWorker).config.kind, MatmulKind::multicast_1d_in1);
  EXPECT_EQ(plan(problem, kWorker).config.grid, kWorker) << "of one dimension: on the device's";
}

TEST(MatmulPlanner, ABatchOfBWithACoreGridTakesNoActivation) {
  MatmulProblem problem = product(256, 64, 256);
  problem.batch = 4;
  problem.activation = Eltwise::relu;
  problem.core_grid = kWorker;
  EXPECT_NO_THROW(plan(problem, kWorker)) << "A alone has the batch";
  problem.batched_b = true;
  EXPECT_THROW(plan(problem, kWorker), Error);
  problem.core_grid.reset();
  EXPECT_NO_THROW(plan(problem, kWorker));
}

TEST(MatmulPlanner, AnAWithoutABatchIsMulticastToAllColumnsOfB) {
  MatmulProblem problem = product(1024, 1024, 1024);
  EXPECT_EQ(plan(problem, kEth).config.kind, MatmulKind::multicast_2d);
  problem.batch = 3;
  problem.batched_a = false;
  problem.batched_b = true;
  EXPECT_EQ(plan(problem, kEth).config.kind, MatmulKind::multicast_1d_in0);
}

TEST(MatmulPlanner, ABiasTakesRoomInL1) {
  // This is the least L1 in which it keeps its step of K without a bias.
  const MatmulProblem without{.m = 32, .k = 8 * 42, .n = 32};
  ASSERT_EQ(plan(without, kEth).config.in0_block_w, 42);
  Bytes least;
  for (std::int64_t size = 1;; ++size) {
    least = Bytes(size * 2048 + 1);
    if (plan_matmul(without, kEth, least).config.in0_block_w == 42) break;
  }
  MatmulProblem with = without;
  with.bias = true;
  EXPECT_LT(plan_matmul(with, kEth, least).config.in0_block_w, 42);
  EXPECT_EQ(plan_matmul(with, kEth, least + Bytes(4 * 2048)).config.in0_block_w, 42);
  with.types.bias = DataType::float32;
  EXPECT_EQ(plan_matmul(with, kEth, least + Bytes(4 * 4096)).config.in0_block_w, 42);
}

TEST(MatmulPlanner, ArithmeticDefaultsFollowTheDataType) {
  MatmulProblem problem = product(1024, 1024, 1024);
  problem.types = MatmulTypes::all(DataType::bfloat8_b);
  EXPECT_EQ(plan(problem, kEth).fidelity, MathFidelity::lofi);
  problem.types = MatmulTypes::all(DataType::float32);
  EXPECT_EQ(plan(problem, kEth).fidelity, MathFidelity::hifi4);
  EXPECT_TRUE(plan(problem, kEth).fp32_accumulation);
  problem.compute = {.fidelity = MathFidelity::hifi3, .fp32_accumulation = false};
  EXPECT_EQ(plan(problem, kEth).fidelity, MathFidelity::hifi3);
  EXPECT_FALSE(plan(problem, kEth).fp32_accumulation);
}

TEST(MatmulPlanner, ArithmeticDefaultsLookAtBothFactors) {
  MatmulProblem problem = product(1024, 1024, 1024);
  problem.types = {.a = DataType::bfloat16, .b = DataType::bfloat8_b, .out = DataType::bfloat16};
  EXPECT_EQ(plan(problem, kEth).fidelity, MathFidelity::hifi2) << "one factor in a block format";
  problem.types.a = DataType::bfloat4_b;
  EXPECT_EQ(plan(problem, kEth).fidelity, MathFidelity::lofi) << "both, if of different ones";
  problem.types = {.a = DataType::float32, .b = DataType::bfloat16, .out = DataType::bfloat16};
  EXPECT_EQ(plan(problem, kEth).fidelity, MathFidelity::hifi2);
  EXPECT_FALSE(plan(problem, kEth).fp32_accumulation);
  problem.types.out = DataType::float32;
  EXPECT_TRUE(plan(problem, kEth).fp32_accumulation) << "a result in fp32";
  problem.types = {.a = DataType::float32, .b = DataType::float32, .out = DataType::bfloat16};
  EXPECT_EQ(plan(problem, kEth).fidelity, MathFidelity::hifi4);
  EXPECT_TRUE(plan(problem, kEth).fp32_accumulation) << "both factors in fp32";
}

TEST(MatmulPlanner, ThePackerAddsPartialSumsUnlessTheCallOrFp32SaysOtherwise) {
  MatmulProblem problem = product(1024, 1024, 1024);
  EXPECT_TRUE(plan(problem, kEth).packer_accumulates);
  problem.types.out = DataType::float32;
  EXPECT_FALSE(plan(problem, kEth).packer_accumulates);
  problem.compute.packer_accumulates = true;
  EXPECT_TRUE(plan(problem, kEth).packer_accumulates);
  problem.types.out = DataType::bfloat16;
  problem.compute.packer_accumulates = false;
  EXPECT_FALSE(plan(problem, kEth).packer_accumulates);
}

TEST(MatmulPlanner, SubBlocksOfAResultInShardsAreARowOfTheShardOrATile) {
  const auto subblock = [](std::int64_t n) {
    MatmulProblem problem{.m = 16, .k = 4, .n = n, .in0 = Storage::l1, .out = Storage::l1};
    problem.in0_shards = Sharding{ShardLayout::height, {8, 1}, 64, 128};
    problem.out_shards = Sharding{ShardLayout::height, {8, 1}, 64, n * kTileSide};
    const MatmulPlan found = plan(problem, kEth);
    EXPECT_EQ(found.config.per_core_m, 2);
    return std::pair(found.config.subblock_h, found.config.subblock_w);
  };
  EXPECT_EQ(subblock(1), std::pair(1L, 1L));
  EXPECT_EQ(subblock(6), std::pair(1L, 6L));
  EXPECT_EQ(subblock(9), std::pair(1L, 1L)) << "more than the registers hold";
}

TEST(MatmulPlanner, CircularBuffersHoldEachOperandInItsType) {
  MatmulProblem problem = product(1024, 1024, 1024);
  const MatmulPlan wide = plan(problem, kEth);
  problem.types.b = DataType::bfloat8_b;
  const MatmulPlan narrow = plan(problem, kEth);
  ASSERT_EQ(narrow.config.in0_block_w, wide.config.in0_block_w);
  // Two buffers of B's block, of tiles of 1088 bytes in place of 2048.
  EXPECT_EQ(circular_buffer_bytes(wide).value() - circular_buffer_bytes(narrow).value(),
            2 * wide.config.in0_block_w * wide.config.out_block_w * (2048 - 1088));
}

TEST(MatmulPlanner, PartialSumsHaveABufferOfTheirOwnOnlyInAnotherType) {
  // 3072x3072x4096 on 8x8 cores: blocks of 12x16 tiles, 6 of K in a step.
  MatmulPlan blocks{.problem = product(3072, 4096, 3072),
                    .config = {.kind = MatmulKind::multicast_2d}};
  blocks.k = 128;
  blocks.config.per_core_m = blocks.config.out_block_h = 12;
  blocks.config.per_core_n = blocks.config.out_block_w = 16;
  blocks.config.in0_block_w = 4;
  const std::int64_t inputs = 2 * 4 * (12 + 16) * 2048, tiles = 12 * 16;
  EXPECT_EQ(circular_buffer_bytes(blocks).value(), inputs + tiles * 2048);
  blocks.problem.types.out = DataType::bfloat8_b;
  EXPECT_EQ(circular_buffer_bytes(blocks).value(), inputs + tiles * (1088 + 2048));
  blocks.fp32_accumulation = true;
  EXPECT_EQ(circular_buffer_bytes(blocks).value(), inputs + tiles * (1088 + 4096));
  blocks.config.in0_block_w = 64;
  blocks.fp32_accumulation = false;
  EXPECT_EQ(circular_buffer_bytes(blocks).value(), 16 * inputs + tiles * 1088) << "of two steps";
  blocks.problem.out_shards = Sharding{};
  EXPECT_EQ(circular_buffer_bytes(blocks).value(), 16 * inputs) << "shards are the buffer";
  blocks.config.out_block_h = 6;
  EXPECT_EQ(circular_buffer_bytes(blocks).value(), 2 * 64 * (6 + 16) * 2048 + 6 * 16 * 1088)
      << "of two blocks";
}

TEST(MatmulPlanner, Fp32AccumulationHalvesTheSubBlock) {
  MatmulProblem problem = product(1024, 1024, 1024);
  EXPECT_EQ(plan(problem, kEth).config.subblock_h * plan(problem, kEth).config.subblock_w, 8);
  problem.compute.fp32_accumulation = true;
  EXPECT_EQ(plan(problem, kEth).config.subblock_h * plan(problem, kEth).config.subblock_w, 4);
}

TEST(MatmulPlanner, TheProblemOfAProgramIsInItsOperands) {
  Program program{.inputs = {TensorSpec{{2, 3, 96, 64}}, TensorSpec{{256, 96}}},
                  .outputs = {TensorSpec{{2, 3, 64, 256}}}};
  MatmulAttributes attributes{.transpose_a = true, .transpose_b = true};
  EXPECT_EQ(problem_of(program, attributes),
            (MatmulProblem{
                .batch = 6, .m = 2, .k = 3, .n = 8, .transposed_a = true, .transposed_b = true}));
  attributes = {.core_grid = kWorker, .compute = {.fidelity = MathFidelity::hifi4}};
  program = {.inputs = {TensorSpec{{64, 96}}, TensorSpec{{5, 96, 256}}, TensorSpec{{256}}},
             .outputs = {TensorSpec{{5, 64, 256}}}};
  EXPECT_EQ(problem_of(program, attributes), (MatmulProblem{.batch = 5,
                                                            .batched_a = false,
                                                            .batched_b = true,
                                                            .m = 2,
                                                            .k = 3,
                                                            .n = 8,
                                                            .core_grid = kWorker,
                                                            .compute = attributes.compute,
                                                            .bias = true}));
}

/// This is what every plan must satisfy, over awkward sizes: each core's share is cut without
/// remainder, and every tile of the output belongs to a core.
TEST(MatmulPlanner, EveryPlanCoversTheProductExactly) {
  for (std::int64_t m = 1; m <= 300; m += 13) {
    for (std::int64_t n = 1; n <= 300; n += 17) {
      for (const std::int64_t k : {1, 4, 12, 127, 128}) {
        for (const bool with_grid : {false, true}) {
          MatmulProblem problem{.m = m, .k = k, .n = n};
          if (with_grid) problem.core_grid = CoreGrid{4, 7};
          const MatmulPlan p = plan(problem, kWorker);
          EXPECT_EQ(p.config.per_core_m % p.config.out_block_h, 0) << p.text();
          EXPECT_EQ(p.config.per_core_n % p.config.out_block_w, 0) << p.text();
          EXPECT_EQ(p.config.out_block_h % p.config.subblock_h, 0) << p.text();
          EXPECT_EQ(p.config.out_block_w % p.config.subblock_w, 0) << p.text();
          EXPECT_EQ(p.k % p.config.in0_block_w, 0) << p.text();
          EXPECT_LE(p.active_cores(), p.config.grid.cores()) << p.text();
          EXPECT_GE(p.config.per_core_m * p.active_rows(), m) << p.text();
          EXPECT_GE(p.config.per_core_n * p.active_columns(), n) << p.text();
        }
      }
    }
  }
}

TEST(MatmulPlanner, TheCliffAt4096IsAPrimeShareOfRows) {
  // 4096 rows over 7 core rows are 19 tile rows a core. Dividing by 7 has nothing to do with it:
  // 4160 does not divide by 7 either, but its share of 19 ... 20 tile rows can be halved.
  const MatmulPlan cliff = plan(product(4096, 4096, 4096), kWorker);
  EXPECT_EQ(cliff.blocks_w(), 16) << "A is read from DRAM once for each of these";
  const MatmulPlan aligned = plan(product(4032, 4096, 4096), kWorker);
  EXPECT_EQ(aligned.config.out_block_h, 6);
  EXPECT_EQ(aligned.config.out_block_w, 8);
  const MatmulPlan longer = plan(product(4288, 4096, 4096), kWorker);
  EXPECT_EQ(longer.config.per_core_m, 20);
  EXPECT_LT(longer.blocks_w(), 4);
  // A K that leaves no long step (127 tiles) has no cliff, because the block need not be cut.
  EXPECT_EQ(plan(product(4096, 4064, 4096), kWorker).config.out_block_w, 16);
}

}  // namespace
}  // namespace howard::chip
