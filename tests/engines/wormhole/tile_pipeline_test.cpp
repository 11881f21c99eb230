// SPDX-License-Identifier: Apache-2.0
//
// Expected times are worked out from the constants by hand.
#include "engines/wormhole/kernels/tile_pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/engines/wormhole/round_profiles.h"

namespace howard::wormhole {
namespace {

class Pipeline : public ::testing::Test {
 protected:
  KernelCost cost(const TilePipeline& pipeline) const {
    return tile_pipeline_cost(pipeline, {8, 7}, profiles_);
  }
  /// Reads one tile in a batch of its own: request and port side by side, then the latency.
  SimTime read_one() const {
    return chip_.noc_read_latency +
           std::max(profiles_.software.matmul_read_issue, transfer_time(tile_, chip_.noc_link));
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
  TilePipeline ten = one_;
  ten.steps = ten.all_steps = 10;
  EXPECT_EQ(cost(ten).total - cost(one_).total, 9 * read_one()) << "reading is slowest here";
  EXPECT_EQ(cost(ten).bottleneck, Bottleneck::in0_reads);
  const SimTime slow = SimTime::microseconds(2);
  one_.compute = ten.compute = slow;
  EXPECT_EQ(cost(ten).total - cost(one_).total, 9 * slow);
  EXPECT_EQ(cost(ten).bottleneck, Bottleneck::math);
}

TEST_F(Pipeline, ManyCoresAreBoundByTheDramTheyShare) {
  TilePipeline alone = one_;
  alone.steps = 100;
  TilePipeline crowd = alone;
  crowd.cores = 64;
  EXPECT_EQ(cost(crowd).bottleneck, Bottleneck::dram);
  const SimTime both = transfer_time(Bytes(64 * 2 * 2048), chip_.dram_mixed);
  const SimTime first = cost(alone).total - 99 * read_one();
  EXPECT_EQ(cost(crowd).total - first, 99 * both);
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
}  // namespace howard::wormhole
