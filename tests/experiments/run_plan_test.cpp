// SPDX-License-Identifier: Apache-2.0
#include "experiments/training_plan/run_plan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engines/chip/emulated_chip.h"
#include "engines/host/host_device.h"
#include "engines/training/trainer.h"
#include "experiments/training_plan/plan_search.h"

namespace howard::experiments {
namespace {

/// Trains on an emulated chip and returns the time of the second step.
SimTime trained_step(const training::Recipe& recipe, training::Engine engine) {
  std::string text;
  for (int i = 0; i < 12; ++i) text += "the quick brown fox jumps over the lazy dog. ";
  host::HostDevice host;
  chip::EmulatedChip chip(chip::load_profiles(), {.values = &host});
  training::Trainer trainer(chip, recipe, language::Corpus(text), {.engine = engine});
  static_cast<void>(trainer.step());
  return trainer.step().time;
}

TEST(RunPlan, AStepTakesAsLongAsThatOfATraining) {
  training::Recipe recipe{
      .model = {.batch = 4, .sequence = 32, .width = 64, .heads = 2, .layers = 2, .dropout = 0.1F},
      .optimizer = {.learning_rate = 3e-3F},
      .schedule = {.steps = 20}};
  constexpr std::int64_t kLetters = 28;  // of the text, with the blank and the full stop
  for (const int batches : {1, 2}) {
    recipe.accumulate = batches;
    for (const auto engine : {training::Engine::dynamic, training::Engine::static_step}) {
      const RunPlan plan = plan_run({.recipe = recipe, .vocabulary = kLetters, .engine = engine},
                                    chip::load_profiles());
      EXPECT_EQ(plan.step.time.ps(), trained_step(recipe, engine).ps())
          << batches << " batches, " << name_of(engine);
    }
  }
}

/// Returns a plan that divides a batch among chips of 8 bytes, and needs `peak` of them.
RunPlan plan_of(int chips, std::int64_t peak) {
  RunPlan plan;
  plan.setting.plan.ddp = chips;
  plan.peak = Bytes(peak);
  plan.capacity = Bytes(8);
  return plan;
}

TEST(RunPlan, NoMoreChipsAreOfferedThanAPlanHasUnlessNothingFitsThere) {
  const std::vector<RunPlan> all{plan_of(32, 1), plan_of(2, 9), plan_of(8, 2), plan_of(4, 8)};
  EXPECT_EQ(best_that_fits(plan_of(32, 1), all)->setting.chips(), 32);
  EXPECT_EQ(best_that_fits(plan_of(8, 1), all)->setting.chips(), 8);
  EXPECT_EQ(best_that_fits(plan_of(4, 9), all)->setting.chips(), 4);
  EXPECT_EQ(best_that_fits(plan_of(2, 9), all)->setting.chips(), 4);
  EXPECT_EQ(best_that_fits(plan_of(2, 9), {plan_of(2, 9)}), nullptr);
}

}  // namespace
}  // namespace howard::experiments
