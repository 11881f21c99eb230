// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/calibration/steady_state.h"

#include <gtest/gtest.h>

namespace howard::calibration {
namespace {

using chip::Launch;

constexpr SimTime us(std::int64_t count) { return SimTime::microseconds(count); }

Launch launch(std::int64_t dispatch, std::int64_t go, std::int64_t kernel,
              Bytes configuration = {}) {
  return {
      .dispatch = us(dispatch), .go = us(go), .kernel = us(kernel), .configuration = configuration};
}

class SteadyState : public ::testing::Test {
 protected:
  chip::SoftwareProfile software_ = chip::load_profiles().software;
};

TEST_F(SteadyState, AWellFedQueueHasThePeriodOfItsSlowerSide) {
  EXPECT_EQ(steady_period({launch(5, 1, 2)}, software_), us(5));
  EXPECT_EQ(steady_period({launch(2, 1, 6)}, software_), us(7));
  EXPECT_EQ(steady_period({launch(2, 1, 6), launch(3, 1, 1)}, software_), us(9));
}

TEST_F(SteadyState, AProgramThatFillsTheRingIsDispatchedAfterTheOneBefore) {
  const Bytes most = software_.dispatch.configuration_ring;
  EXPECT_EQ(steady_period({launch(5, 0, 2, most)}, software_), us(7));
}

TEST_F(SteadyState, EmptyProgramsHideBehindASlowOneUntilTheRingIsFull) {
  Launch empty = launch(3, 1, 0);
  Launch slow = launch(3, 1, 100);
  EXPECT_EQ(steady_period({slow, empty, empty}, software_), us(103));
}

TEST_F(SteadyState, ReplaysDoNotOverlap) {
  software_.dispatch.replay = us(3);
  // 3 to reset and fetch, 2 until the first kernel starts, 6; the second, dispatched meanwhile,
  // starts 1 later and takes 1.
  EXPECT_EQ(replay_period({launch(2, 1, 6), launch(3, 1, 1)}, software_), us(13));
  EXPECT_EQ(steady_period({launch(2, 1, 6), launch(3, 1, 1)}, software_), us(9))
      << "in one trace there is one replay";
}

TEST_F(SteadyState, ALoneProgramTakesItsDispatchAndItsKernel) {
  EXPECT_EQ(lone_time(launch(5, 1, 2), software_), us(7));
}

}  // namespace
}  // namespace howard::calibration
