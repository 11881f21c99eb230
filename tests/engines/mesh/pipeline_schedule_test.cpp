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
double bubble(PipelineSchedule schedule, int stages, int micro_batches) {
  const std::vector<StageTimes> equal(
      static_cast<std::size_t>(stages),
      {.forward = SimTime::microseconds(10), .backward = SimTime::microseconds(20), .send = {}});
  const auto accounts = run_pipeline(schedule, equal, micro_batches);
  const double span = span_of(accounts).seconds();
  double idle = 0;
  for (const StageAccount& account : accounts) idle += span - account.computing.seconds();
  return idle / (span * stages);
}

TEST(PipelineSchedule, EqualStagesWaitAsTheFormulasSay) {
  for (const int stages : {1, 2, 4, 8}) {
    for (const int micro_batches : {1, 2, 4, 16}) {
      const double r = stages;
      const double m = micro_batches;
      EXPECT_DOUBLE_EQ(bubble(kTtml, stages, micro_batches), (r - 1) / r);
      EXPECT_NEAR(bubble(kGpipe, stages, micro_batches), (r - 1) / (m + r - 1), 1e-12);
      EXPECT_NEAR(bubble(k1f1b, stages, micro_batches), (r - 1) / (m + r - 1), 1e-12);
    }
  }
}

TEST(PipelineSchedule, GpipeHoldsAllMicroBatchesAnd1f1bNoMoreThanStages) {
  for (int stage = 0; stage < 4; ++stage) {
    EXPECT_EQ(most_alive(kTtml, 4, stage, 8), 1);
    EXPECT_EQ(most_alive(kGpipe, 4, stage, 8), 8);
    EXPECT_EQ(most_alive(k1f1b, 4, stage, 8), 4 - stage);
    EXPECT_EQ(most_alive(k1f1b, 4, stage, 2), std::min(2, 4 - stage));
  }
}

TEST(PipelineSchedule, PassesAreThoseOfThePapers) {
  using Passes = std::vector<PipelinePass>;
  EXPECT_EQ(passes_of(kTtml, 2, 0, 2), (Passes{{true, 0}, {false, 0}, {true, 1}, {false, 1}}));
  EXPECT_EQ(passes_of(kGpipe, 2, 0, 2), (Passes{{true, 0}, {true, 1}, {false, 0}, {false, 1}}));
  EXPECT_EQ(passes_of(k1f1b, 2, 0, 3),
            (Passes{{true, 0}, {true, 1}, {false, 0}, {true, 2}, {false, 1}, {false, 2}}));
  EXPECT_EQ(passes_of(k1f1b, 2, 1, 2), passes_of(kTtml, 2, 1, 2)) << "the last stage turns at once";
}

TEST(PipelineSchedule, SendingKeepsTheSenderAndTheReceiver) {
  const SimTime us = SimTime::microseconds(1);
  const std::vector<StageTimes> stages(2,
                                       {.forward = 10 * us, .backward = 20 * us, .send = 3 * us});
  const auto accounts = run_pipeline(kTtml, stages, 1);
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
