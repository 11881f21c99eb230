// SPDX-License-Identifier: Apache-2.0
//
// Expected times are worked out from the constants by hand.
#include "engines/chip/kernels/pipeline/tile_pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engines/chip/kernels/pipeline/pages.h"
#include "tests/engines/chip/round_profiles.h"

namespace howard::chip {
namespace {

class Pipeline : public ::testing::Test {
 protected:
  KernelCost cost(const TilePipeline& pipeline) const {
    return tile_pipeline_cost(pipeline, {8, 7}, profiles_);
  }
  /// Reads one tile in a batch of its own: request and port side by side, then the latency.
  SimTime read_one() const {
    return chip_.noc_read_latency +
           std::max(profiles_.software.noc_read_issue, transfer_time(tile_, chip_.noc_link));
  }

  Profiles profiles_ = load_profiles();
  const ChipProfile& chip_ = profiles_.chip;
  const TileCosts& cost_ = profiles_.software.tiles;
  Bytes tile_{2048};
  TilePipeline one_{.steps = 1,
                    .all_steps = 1,
                    .cores = 1,
                    .reads = {1, 1},
                    .writes = {1, 1},
                    .compute = SimTime::nanoseconds(100),
                    .tile = tile_,
                    .out_tile = tile_};
};

TEST_F(Pipeline, ASingleStepTakesAllThreeStages) {
  const SimTime write = chip_.noc_write_latency + (read_one() - chip_.noc_read_latency);
  EXPECT_EQ(cost(one_).compute_start, cost_.start + read_one());
  EXPECT_EQ(cost(one_).math_end, cost_.start + read_one() + SimTime::nanoseconds(100));
  EXPECT_NEAR(cost(one_).total.seconds(),
              (cost_.start + read_one() + SimTime::nanoseconds(100) + write).seconds(), 1e-12);
  EXPECT_EQ(cost(one_).dram, Bytes(4096));
}

TEST_F(Pipeline, AFurtherStepTakesTheSlowestStage) {
  profiles_.software.tiles.interference = 0;
  TilePipeline ten = one_;
  ten.steps = ten.all_steps = 10;
  EXPECT_EQ(cost(ten).total - cost(one_).total, 9 * read_one()) << "reading is slowest here";
  EXPECT_EQ(cost(ten).bottleneck, Bottleneck::in0_reads);
  EXPECT_EQ(cost(one_).bottleneck, Bottleneck::start);
  const SimTime slow = SimTime::microseconds(2);
  one_.compute = ten.compute = slow;
  EXPECT_EQ(cost(ten).total - cost(one_).total, 9 * slow);
  EXPECT_EQ(cost(ten).bottleneck, Bottleneck::math);
  EXPECT_EQ(cost(one_).bottleneck, Bottleneck::math) << "its one step is longer than the start";
}

TEST_F(Pipeline, ManyCoresAreBoundByTheDramTheyShare) {
  TilePipeline alone = one_;
  alone.steps = 100;
  TilePipeline crowd = alone;
  crowd.cores = 64;
  crowd.all_steps = 6400;
  EXPECT_EQ(cost(crowd).bottleneck, Bottleneck::dram);
  profiles_.software.tiles.interference = 0;
  const SimTime first = cost(alone).total - 99 * read_one();
  // All tiles but the first, and three tenths of the other cores' first ones.
  const Bytes moved(2048 * (6399 - 19) + 2048 / 10);
  const SimTime banks = banks_time({.reads = moved, .writes = moved, .runs = {6400, 64}}, chip_);
  // The first step's own page has come before.
  const SimTime page = read_one() - chip_.noc_read_latency;
  EXPECT_NEAR((cost(crowd).total - first + page).seconds() / banks.seconds(), 1, 1e-4);
  EXPECT_EQ(cost(crowd).unshared, cost(alone).total) << "with the DRAM to itself";
}

TEST_F(Pipeline, OnlyTheTilesThatMoveAreCharged) {
  // 57 tiles on 56 cores: one core has two, and the others' second tiles are not moved.
  TilePipeline ragged = one_;
  ragged.steps = 2;
  ragged.all_steps = 57;
  ragged.cores = 56;
  TilePipeline full = ragged;
  full.all_steps = 112;
  EXPECT_LT(cost(ragged).total, cost(full).total);
  EXPECT_EQ(cost(ragged).dram, Bytes(57 * 4096));
}

TEST_F(Pipeline, MathAndTrafficThatTakeEquallyLongGetInEachOthersWay) {
  TilePipeline crowd = one_;
  crowd.steps = 100;
  crowd.all_steps = 6400;
  crowd.cores = 64;
  const SimTime free = cost(crowd).total;
  TilePipeline busy = crowd;
  busy.compute = SimTime::picoseconds((free - cost(one_).total).ps() / 99);
  const SimTime both = cost(busy).total;
  profiles_.software.tiles.interference = 0;
  const double more = (both - cost(busy).total).seconds() / free.seconds();
  EXPECT_NEAR(more, 0.12, 0.01);
  EXPECT_LT((free - cost(crowd).total).seconds() / free.seconds(), 0.01)
      << "little math, little way";
}

TEST_F(Pipeline, FractionsOfATileAverageOverTheSteps) {
  TilePipeline reduce = one_;
  reduce.steps = reduce.all_steps = 64;
  reduce.writes = {1, 32};
  EXPECT_EQ(cost(reduce).dram, Bytes(64 * (2048 + 64)));
  TilePipeline more = reduce;
  more.writes = {1, 1};
  EXPECT_LE(cost(reduce).total, cost(more).total);
}

TEST_F(Pipeline, SetUpIsPaidOnceAndMayBeWhatTakesLongest) {
  TilePipeline with = one_;
  with.set_up = SimTime::microseconds(50);
  EXPECT_EQ(cost(with).total - cost(one_).total, SimTime::microseconds(50));
  EXPECT_EQ(cost(with).bottleneck, Bottleneck::start);
}

TEST_F(Pipeline, WithoutOperandsThereIsNothingToRead) {
  TilePipeline fill = one_;
  fill.reads = {0, 1};
  EXPECT_EQ(cost(fill).compute_start, cost_.start);
  EXPECT_EQ(cost(fill).dram, Bytes(2048));
}

TEST_F(Pipeline, TheClosedFormIsTheRecurrenceOfTwoDeepBuffers) {
  const Profiles round = round_profiles();
  for (const std::int64_t read : {1, 50, 90}) {
    for (const std::int64_t compute : {1, 40, 100}) {
      for (const std::int64_t write : {1, 60, 95}) {
        for (const std::int64_t steps : {1, 2, 7}) {
          const StepPipeline pipeline{.steps = steps,
                                      .all_steps = steps,
                                      .cores = 1,
                                      .read = ns(read),
                                      .compute = ns(compute),
                                      .write = ns(write),
                                      .last_write = ns(write)};
          SimTime has_read, computed, computed_before, written, written_before;
          for (std::int64_t i = 0; i < steps; ++i) {
            has_read = std::max(has_read, computed_before) + ns(read);
            computed_before = computed;
            computed = std::max({computed, has_read, written_before}) + ns(compute);
            written_before = written;
            written = std::max(written, computed) + ns(write);
          }
          EXPECT_EQ(step_pipeline_cost(pipeline, {8, 7}, round).total, ns(1000) + written)
              << read << " " << compute << " " << write << " " << steps;
        }
      }
    }
  }
}

TEST_F(Pipeline, ABatchOfPagesWaitsOnce) {
  const Profiles round = round_profiles();
  EXPECT_EQ(read_time(3, Bytes(2048), round), ns(136 + 3 * 64)) << "through the port";
  EXPECT_EQ(read_time(3, Bytes(64), round), ns(136 + 3 * 10)) << "issuing requests";
  EXPECT_EQ(write_time(3, Bytes(2048), round), ns(236 + 3 * 64));
}

}  // namespace
}  // namespace howard::chip
