// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/optimizers/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/error.h"

namespace howard::autograd {
namespace {

TEST(Schedule, WarmupLinearRisesOverATenthAndFallsToAHundredth) {
  const auto factor = [](std::int64_t step) {
    return learning_rate_factor({.schedule = Schedule::warmup_linear, .steps = 100}, step);
  };
  EXPECT_FLOAT_EQ(factor(1), 1) << "the schedule is asked after the first step only";
  EXPECT_FLOAT_EQ(factor(2), 0.1F);
  EXPECT_FLOAT_EQ(factor(11), 1);
  EXPECT_FLOAT_EQ(factor(56), 0.505F);
  EXPECT_NEAR(factor(101), 0.01F, 1e-7F);
  EXPECT_NEAR(factor(500), 0.01F, 1e-7F);
  EXPECT_FLOAT_EQ(learning_rate_factor({.schedule = Schedule::warmup_linear, .steps = 5}, 2),
                  0.802F)
      << "no warm-up";
  EXPECT_FLOAT_EQ(learning_rate_factor({.schedule = Schedule::identity, .steps = 100}, 50), 1);
}

TEST(Schedule, StepFallsAfterEachSoManySteps) {
  const SchedulePlan plan{.schedule = Schedule::step, .steps = 100, .size = 3, .gamma = 0.5F};
  for (std::int64_t step = 1; step < 30; ++step) {
    EXPECT_FLOAT_EQ(learning_rate_factor(plan, step),
                    static_cast<float>(std::pow(0.5, (step - 1) / 3)))
        << step;
  }
}

TEST(Schedule, LinearAndCosineAreTheirFormulasAndThenStay) {
  const SchedulePlan linear{
      .schedule = Schedule::linear, .steps = 100, .start = 0.2F, .end = 0.6F, .length = 40};
  const SchedulePlan cosine{.schedule = Schedule::cosine, .steps = 50, .least = 0.1F};
  EXPECT_FLOAT_EQ(learning_rate_factor(linear, 1), 1) << "before the schedule is asked";
  for (std::int64_t step = 2; step < 120; ++step) {
    const auto asked = static_cast<double>(step - 1);
    EXPECT_NEAR(double{learning_rate_factor(linear, step)}, 0.2 + 0.4 * std::min(asked, 40.0) / 40,
                1e-6);
    const double wave = std::cos(std::numbers::pi * std::min(asked, 50.0) / 50);
    EXPECT_NEAR(double{learning_rate_factor(cosine, step)}, 0.1 + 0.9 * (1 + wave) / 2, 1e-6);
  }
}

TEST(Schedule, ASequenceCountsTheStepsOfEachPart) {
  const SchedulePlan plan{.schedule = Schedule::sequential,
                          .steps = 100,
                          .start = 0,
                          .end = 1,
                          .parts = parse_schedule_parts("linear:4,identity:2,cosine:10")};
  const auto factor = [&](std::int64_t step) { return learning_rate_factor(plan, step); };
  EXPECT_FLOAT_EQ(factor(2), 0.25F);
  EXPECT_FLOAT_EQ(factor(5), 1);
  EXPECT_FLOAT_EQ(factor(7), 1);
  EXPECT_NEAR(double{factor(12)}, 0.5, 1e-6) << "5 of the 10 steps of the cosine";
  EXPECT_NEAR(double{factor(17)}, 0, 1e-6);
  EXPECT_NEAR(double{factor(90)}, 0, 1e-6) << "the last one goes on";
}

TEST(Schedule, NamesAreReadBackAndOthersAreErrors) {
  for (const Schedule schedule :
       {Schedule::identity, Schedule::warmup_linear, Schedule::speedrun, Schedule::step,
        Schedule::linear, Schedule::cosine, Schedule::sequential}) {
    EXPECT_EQ(parse_schedule(name_of(schedule)), schedule);
  }
  EXPECT_THROW(parse_schedule("cosinus"), Error);
  EXPECT_EQ(text_of(parse_schedule_parts("linear:100,cosine:900")), "linear:100,cosine:900");
  for (const char* const text : {"", "linear", "linear:", "linear:0", "linear:1.5", "linear:1,",
                                 "speedrun:3", "sequential:3", "linus:3"}) {
    EXPECT_THROW(parse_schedule_parts(text), Error) << text;
  }
}

TEST(Schedule, ARampEndsAtItsEnd) {
  EXPECT_FLOAT_EQ(ramped(0.85F, 0.95F, 10, 1), 0.86F);
  EXPECT_FLOAT_EQ(ramped(0.85F, 0.95F, 10, 5), 0.9F);
  EXPECT_FLOAT_EQ(ramped(0.85F, 0.95F, 10, 100), 0.95F);
}

}  // namespace
}  // namespace howard::autograd
