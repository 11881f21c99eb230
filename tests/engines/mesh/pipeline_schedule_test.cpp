// SPDX-License-Identifier: Apache-2.0
#include "engines/mesh/pipeline_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/error.h"

namespace howard::mesh {
namespace {

constexpr auto kTtml = PipelineSchedule::sequential;
constexpr auto kGpipe = PipelineSchedule::gpipe;
constexpr auto k1f1b = PipelineSchedule::one_forward_one_back;

SimTime span_of(const std::vector<StageAccount>& accounts) {
  SimTime latest;
  for (const StageAccount& account : accounts) latest = std::max(latest, account.end);
  return latest;
}

/// The share of the time in which the stages, all equal, do nothing.
double bubble(const PipelineOrder& order) {
  const std::vector<PassTimes> equal(
      static_cast<std::size_t>(order.parts()),
      {.forward = SimTime::microseconds(10), .backward = SimTime::microseconds(20), .send = {}});
  const auto accounts = run_pipeline(order, equal);
  const double span = span_of(accounts).seconds();
  double idle = 0;
  for (const StageAccount& account : accounts) idle += span - account.computing.seconds();
  return idle / (span * order.stages);
}

TEST(PipelineSchedule, EqualStagesWaitAsTheFormulasSay) {
  for (const int stages : {1, 2, 4, 8}) {
    for (const int micro_batches : {1, 2, 4, 16}) {
      const double r = stages;
      const double m = micro_batches;
      EXPECT_DOUBLE_EQ(bubble({kTtml, stages, micro_batches}), (r - 1) / r);
      EXPECT_NEAR(bubble({kGpipe, stages, micro_batches}), (r - 1) / (m + r - 1), 1e-12);
      EXPECT_NEAR(bubble({k1f1b, stages, micro_batches}), (r - 1) / (m + r - 1), 1e-12);
    }
  }
}

TEST(PipelineSchedule, ChunksDivideTheBubble) {
  for (const int stages : {2, 3, 4, 8}) {
    for (const int chunks : {2, 3, 4}) {
      for (const int groups : {1, 2, 4}) {
        const int micro_batches = groups * stages;
        const double r = stages;
        EXPECT_NEAR(bubble({k1f1b, stages, micro_batches, chunks}),
                    (r - 1) / (chunks * micro_batches + r - 1), 1e-12)
            << stages << " stages, " << chunks << " chunks";
      }
    }
  }
}

TEST(PipelineSchedule, ChunksAreWorkedOnInTurn) {
  using Passes = std::vector<PipelinePass>;
  // The last of two stages turns back after two micro-batches of its first chunk and one of its
  // second.
  EXPECT_EQ(passes_of({k1f1b, 2, 2, 2}, 1), (Passes{{true, 0, 0},
                                                    {true, 1, 0},
                                                    {true, 0, 1},
                                                    {false, 0, 1},
                                                    {true, 1, 1},
                                                    {false, 1, 1},
                                                    {false, 0, 0},
                                                    {false, 1, 0}}));
  EXPECT_EQ(most_alive({k1f1b, 2, 4, 2}, 0), 5);
  EXPECT_EQ(blocks_of_parts(std::vector<int>{4, 2}, 2), (std::vector<int>{2, 1, 2, 1}));
  EXPECT_EQ(blocks_of_parts(std::vector<int>{5, 2}, 2), (std::vector<int>{3, 1, 2, 1}));
  EXPECT_FALSE((PipelineOrder{k1f1b, 2, 3, 2}.is_possible())) << "a group is not full";
  EXPECT_FALSE((PipelineOrder{kGpipe, 2, 4, 2}.is_possible()));
}

TEST(PipelineSchedule, GpipeHoldsAllMicroBatchesAnd1f1bNoMoreThanStages) {
  for (int stage = 0; stage < 4; ++stage) {
    EXPECT_EQ(most_alive({kTtml, 4, 8}, stage), 1);
    EXPECT_EQ(most_alive({kGpipe, 4, 8}, stage), 8);
    EXPECT_EQ(most_alive({k1f1b, 4, 8}, stage), 4 - stage);
    EXPECT_EQ(most_alive({k1f1b, 4, 2}, stage), std::min(2, 4 - stage));
  }
}

TEST(PipelineSchedule, PassesAreThoseOfThePapers) {
  using Passes = std::vector<PipelinePass>;
  EXPECT_EQ(passes_of({kTtml, 2, 2}, 0), (Passes{{true, 0}, {false, 0}, {true, 1}, {false, 1}}));
  EXPECT_EQ(passes_of({kGpipe, 2, 2}, 0), (Passes{{true, 0}, {true, 1}, {false, 0}, {false, 1}}));
  EXPECT_EQ(passes_of({k1f1b, 2, 3}, 0),
            (Passes{{true, 0}, {true, 1}, {false, 0}, {true, 2}, {false, 1}, {false, 2}}));
  EXPECT_EQ(passes_of({k1f1b, 2, 2}, 1), passes_of({kTtml, 2, 2}, 1))
      << "the last stage turns at once";
}

TEST(PipelineSchedule, SendingKeepsTheSenderAndTheReceiver) {
  const SimTime us = SimTime::microseconds(1);
  const std::vector<PassTimes> stages(2, {.forward = 10 * us, .backward = 20 * us, .send = 3 * us});
  const auto accounts = run_pipeline({kTtml, 2, 1}, stages);
  // Forward 10, send 3, forward 10, back 20, send 3, back 20.
  EXPECT_EQ(accounts[0].end, 66 * us);
  EXPECT_EQ(accounts[1].end, 46 * us);
  EXPECT_EQ(accounts[0].sending, 3 * us);
  EXPECT_EQ(accounts[1].sending, 3 * us);
}

TEST(PipelineSchedule, OtherWordsAreRefused) {
  for (const auto schedule : {kTtml, kGpipe, k1f1b}) {
    EXPECT_EQ(parse_pipeline_schedule(name_of(schedule)), schedule);
  }
  EXPECT_THROW(parse_pipeline_schedule("2f2b"), Error);
}

}  // namespace
}  // namespace howard::mesh
