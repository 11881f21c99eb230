// SPDX-License-Identifier: Apache-2.0
#include "engines/training/trainer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "engines/chip/emulated_chip.h"
#include "engines/host/host_device.h"
#include "tests/error_of.h"

namespace howard::training {
namespace {

language::Corpus text() {
  std::string result;
  for (int i = 0; i < 12; ++i) result += "the quick brown fox jumps over the lazy dog. ";
  return language::Corpus(result);
}

Recipe tiny() {
  return {.batch = 4,
          .sequence = 16,
          .width = 32,
          .heads = 2,
          .layers = 1,
          .dropout = 0.1F,
          .learning_rate = 3e-3F,
          .steps = 20};
}

/// Returns a recipe in which nothing changes from step to step.
Recipe fixed() {
  Recipe recipe = tiny();
  recipe.dropout = 0;
  recipe.optimizer = OptimizerKind::sgd;
  return recipe;
}

std::vector<float> losses(Trainer& trainer, int steps) {
  std::vector<float> result;
  for (int i = 0; i < steps; ++i) result.push_back(trainer.step());
  return result;
}

std::vector<float> losses(const Recipe& recipe, Engine engine, int steps) {
  host::HostDevice device;
  Trainer trainer(device, recipe, text(), engine);
  return losses(trainer, steps);
}

TEST(Trainer, TheLossFallsFromThatOfAGuess) {
  const std::vector<float> all = losses(tiny(), Engine::static_step, 60);
  EXPECT_NEAR(all.front(), std::log(32.0), 0.1);
  EXPECT_LT(all.back(), 0.75F * all.front());
}

TEST(Trainer, EnginesGiveTheSameLossesToTheBit) {
  Recipe recipe = tiny();
  recipe.accumulate = 2;
  recipe.schedule = autograd::Schedule::warmup_linear;
  EXPECT_EQ(losses(recipe, Engine::dynamic, 8), losses(recipe, Engine::static_step, 8));
  EXPECT_EQ(losses(recipe, Engine::dynamic, 8), losses(recipe, Engine::traced, 8))
      << "AdamW's numbers and the seeds of dropout are on the device";
  EXPECT_EQ(losses(fixed(), Engine::dynamic, 8), losses(fixed(), Engine::traced, 8));
}

TEST(Trainer, ATraceOnTheChipWithValuesGivesTheHostsLosses) {
  const auto run = [](Engine engine) {
    host::HostDevice values;
    chip::EmulatedChip device(chip::load_profiles(), {.values = &values});
    Trainer trainer(device, tiny(), text(), engine);
    return losses(trainer, 4);
  };
  EXPECT_EQ(run(Engine::traced), losses(tiny(), Engine::dynamic, 4));
}

// The run has dropout, shuffled data over several epochs, AdamW's moments, a schedule and
// accumulation.
TEST(Trainer, AResumedRunGivesTheLossesOfOneThatNeverStoppedToTheBit) {
  for (const Engine engine : {Engine::dynamic, Engine::static_step, Engine::traced}) {
    Recipe recipe = tiny();
    recipe.batch = 16;
    recipe.accumulate = 2;
    recipe.schedule = autograd::Schedule::warmup_linear;
    if (engine == Engine::dynamic) recipe.clip = 0.5F;
    const std::vector<float> straight = losses(recipe, engine, 20);

    host::HostDevice device;
    Trainer first(device, recipe, text(), engine);
    std::vector<float> parts = losses(first, 10);
    const std::string bytes = checkpoint_bytes(first.checkpoint());
    Trainer second(device, recipe, text(), engine);
    losses(second, 3);  // its losses, of a run with another past
    second.restore(parse_checkpoint(bytes, "test"));
    EXPECT_EQ(second.steps_done(), 10);
    std::ranges::copy(losses(second, 10), std::back_inserter(parts));
    EXPECT_EQ(parts, straight);
  }
}

TEST(Trainer, GradientsOfAccumulatedBatchesAreThoseOfTheLargeOne) {
  Recipe recipe = fixed();
  recipe.dtype = DataType::float32;
  recipe.batch = 8;
  const std::vector<float> large = losses(recipe, Engine::dynamic, 4);
  recipe.batch = 4;
  recipe.accumulate = 2;
  const std::vector<float> halves = losses(recipe, Engine::dynamic, 4);
  for (std::size_t i = 0; i < large.size(); ++i) EXPECT_NEAR(halves[i], large[i], 1e-5F) << i;
}

TEST(Trainer, ClippingChangesTheSteps) {
  Recipe recipe = fixed();
  recipe.learning_rate = 0.5F;
  const std::vector<float> free = losses(recipe, Engine::dynamic, 3);
  recipe.clip = 1e-4F;
  const std::vector<float> clipped = losses(recipe, Engine::dynamic, 3);
  EXPECT_EQ(clipped[0], free[0]);
  EXPECT_GT(clipped[2], free[2]);
}

TEST(Trainer, ClippingIsTheSameInEachEngine) {
  Recipe recipe = tiny();
  recipe.dtype = DataType::float32;
  recipe.clip = 0.05F;
  const std::vector<float> dynamic = losses(recipe, Engine::dynamic, 6);
  for (const Engine engine : {Engine::static_step, Engine::traced}) {
    const std::vector<float> others = losses(recipe, engine, 6);
    for (std::size_t i = 0; i < dynamic.size(); ++i) {
      EXPECT_NEAR(others[i], dynamic[i], 1e-4F) << i;
    }
  }
  recipe.dtype = DataType::bfloat16;
  EXPECT_EQ(losses(recipe, Engine::static_step, 6), losses(recipe, Engine::traced, 6));
}

TEST(Trainer, OptionsOfTheRecipeReachTheModelAndTheOptimizer) {
  Recipe recipe = tiny();
  recipe.dropout = 0;
  recipe.dtype = DataType::float32;
  const std::vector<float> plain = losses(recipe, Engine::dynamic, 4);
  const auto differs = [&](auto change) {
    Recipe other = recipe;
    change(other);
    const std::vector<float> its = losses(other, Engine::dynamic, 4);
    EXPECT_NE(its, plain);
    return its;
  };
  differs([](Recipe& r) { r.beta1 = 0.5F; });
  differs([](Recipe& r) { r.epsilon = 1e-2F; });
  differs([](Recipe& r) { r.tied = true; });
  differs([](Recipe& r) { r.fixed_positions = true; });
  differs([](Recipe& r) { r.parameters = r.dtype = DataType::bfloat16; });
  differs([](Recipe& r) { r.model = ModelKind::llama, r.groups = 1; });
  differs([](Recipe& r) { r.schedule = autograd::Schedule::speedrun, r.warmup = 2; });
  const auto none = differs([](Recipe& r) { r.optimizer = OptimizerKind::no_op; });
  recipe.optimizer = OptimizerKind::sgd;
  const std::vector<float> sgd = losses(recipe, Engine::dynamic, 4);
  for (const auto change : {+[](Recipe& r) { r.momentum = 0.9F; },
                            +[](Recipe& r) { r.momentum = 0.9F, r.nesterov = true; },
                            +[](Recipe& r) { r.momentum = 0.9F, r.dampening = 0.5F; },
                            +[](Recipe& r) { r.sgd_decay = 1; }}) {
    Recipe other = recipe;
    other.learning_rate = recipe.learning_rate = 0.1F;
    change(other);
    EXPECT_NE(losses(other, Engine::dynamic, 4), losses(recipe, Engine::dynamic, 4));
  }
}

// Sums in bfloat16 lose updates below half of their last bit.
TEST(Trainer, CompensatedSumsKeepSmallUpdates) {
  Recipe recipe = tiny();
  recipe.dropout = 0;
  recipe.parameters = DataType::bfloat16;
  recipe.learning_rate = 2e-5F;
  recipe.weight_decay = 0;
  const float plain = losses(recipe, Engine::dynamic, 60).back();
  recipe.kahan = true;
  const float kept = losses(recipe, Engine::dynamic, 60).back();
  recipe.kahan = false;
  recipe.parameters = DataType::float32;
  const float exact = losses(recipe, Engine::dynamic, 60).back();
  EXPECT_LT(std::abs(kept - exact), std::abs(plain - exact));
}

// All but the replayable AdamW read their numbers from the recipe in each step.
TEST(Trainer, OptionsOfAdamWAndSchedulesChangeALossInTheSameWayInEachEngine) {
  const auto changes = std::to_array<void (*)(Recipe&)>(
      {+[](Recipe& r) { r.amsgrad = true; },
       +[](Recipe& r) { r.beta1_warmup = 5, r.beta1_start = 0.2F; },
       +[](Recipe& r) { r.schedule = autograd::Schedule::cosine; },
       +[](Recipe& r) { r.schedule = autograd::Schedule::step, r.step_size = 1; },
       +[](Recipe& r) {
         r.schedule = autograd::Schedule::sequential, r.schedules = "identity:2,linear:2";
       },
       +[](Recipe& r) { r.clip = 0.01F; }});
  for (const auto change : changes) {
    Recipe recipe = tiny();
    recipe.steps = 6;
    recipe.beta2 = 0.5F;  // so that second moments fall as well
    recipe.dtype = DataType::float32;
    const std::vector<float> plain = losses(recipe, Engine::dynamic, 6);
    change(recipe);
    const std::vector<float> dynamic = losses(recipe, Engine::dynamic, 6);
    EXPECT_NE(dynamic, plain);
    const std::vector<float> recorded = losses(recipe, Engine::static_step, 6);
    if (recipe.clip == 0) {
      EXPECT_EQ(recorded, dynamic);
    }
    if (recipe.beta1_warmup > 0) {
      EXPECT_THROW(losses(recipe, Engine::traced, 1), Error);
    } else {
      EXPECT_EQ(losses(recipe, Engine::traced, 6), recorded);
    }
  }
}

TEST(Trainer, SgdInOneProgramTrainsAsItsCompositeDoes) {
  Recipe recipe = tiny();
  recipe.optimizer = OptimizerKind::sgd;
  recipe.learning_rate = 0.1F;
  recipe.dropout = 0;
  recipe.dtype = DataType::float32;
  recipe.momentum = 0.9F;
  recipe.dampening = 0.5F;
  recipe.sgd_decay = 0.1F;
  const std::vector<float> composite = losses(recipe, Engine::dynamic, 6);
  recipe.optimizer = OptimizerKind::fused_sgd;
  const std::vector<float> fused = losses(recipe, Engine::dynamic, 6);
  for (std::size_t i = 0; i < fused.size(); ++i) EXPECT_NEAR(fused[i], composite[i], 1e-5F);
  // The dampening begins with the second step, which a recorded first one does not know.
  EXPECT_EQ(losses(recipe, Engine::static_step, 6), fused);
  EXPECT_THROW(losses(recipe, Engine::traced, 2), Error);
  recipe.dampening = 0;
  EXPECT_EQ(losses(recipe, Engine::traced, 6), losses(recipe, Engine::dynamic, 6));
}

TEST(Trainer, RoundingByChanceKeepsSmallUpdatesAndIsResumed) {
  Recipe recipe = tiny();
  recipe.dropout = 0;
  recipe.parameters = DataType::bfloat16;
  recipe.optimizer = OptimizerKind::fused_adamw;
  recipe.learning_rate = 2e-5F;
  recipe.weight_decay = 0;
  const float plain = losses(recipe, Engine::static_step, 60).back();
  recipe.amsgrad = recipe.stochastic_rounding = true;
  host::HostDevice device;
  Trainer trainer(device, recipe, text(), Engine::dynamic);
  static_cast<void>(losses(trainer, 30));
  const Checkpoint half = parse_checkpoint(checkpoint_bytes(trainer.checkpoint()), "half");
  const std::vector<float> rest = losses(trainer, 30);
  EXPECT_LT(rest.back(), plain);
  Trainer again(device, recipe, text(), Engine::static_step);
  again.restore(half);
  EXPECT_EQ(losses(again, 30), rest);
  recipe.parameters = DataType::float32;
  EXPECT_THROW(losses(recipe, Engine::dynamic, 1), Error);
}

TEST(Trainer, TheEmulatedChipTrainsWithTheHostsNumbers) {
  host::HostDevice host;
  chip::EmulatedChip chip(chip::load_profiles(), {.values = &host});
  Trainer trainer(chip, tiny(), text(), Engine::dynamic);
  EXPECT_EQ(losses(trainer, 3), losses(tiny(), Engine::dynamic, 3));
  EXPECT_GT(chip.now(), SimTime{});
}

TEST(Trainer, ADeviceWithoutValuesIsRefused) {
  chip::EmulatedChip chip(chip::load_profiles());
  EXPECT_THROW(Trainer(chip, tiny(), text(), Engine::dynamic), Error);
}

/// Returns what the Error of a run that goes wrong says.
std::string failure_of(Trainer& trainer, int steps) {
  return error_of([&] {
    losses(trainer, steps);
    static_cast<void>(trainer.checkpoint());
  });
}

TEST(Trainer, ALossThatIsNotFiniteNamesTheStepAndTheFirstOp) {
  host::HostDevice device;
  for (const Engine engine : {Engine::dynamic, Engine::static_step, Engine::traced}) {
    Recipe recipe = fixed();
    recipe.learning_rate = 1e38F;
    Trainer trainer(device, recipe, text(), engine);
    const std::string failure = failure_of(trainer, 5);
    EXPECT_NE(failure.find("not finite in step "), std::string::npos) << failure;
    EXPECT_NE(failure.find(", first in step "), std::string::npos) << failure;
    EXPECT_NE(failure.find("program "), std::string::npos) << failure;
  }
}

TEST(Trainer, ANormThatIsNotFiniteIsFoundWhenGradientsAreClipped) {
  host::HostDevice device;
  Recipe recipe = fixed();
  recipe.learning_rate = 1e38F;
  recipe.clip = 1;
  Trainer trainer(device, recipe, text(), Engine::dynamic);
  const std::string failure = failure_of(trainer, 5);
  EXPECT_NE(failure.find(", first in step "), std::string::npos) << failure;
}

TEST(Trainer, RefusesWhatAnEngineCanNotDo) {
  host::HostDevice device;
  Recipe fused = tiny();
  fused.optimizer = OptimizerKind::moreh_adamw;
  EXPECT_THROW(Trainer(device, fused, text(), Engine::traced), Error);
  Recipe scheduled = fixed();
  scheduled.schedule = autograd::Schedule::warmup_linear;
  Trainer traced(device, scheduled, text(), Engine::traced);
  EXPECT_THROW(traced.step(), Error) << "the rate of SGD changes from step to step";
  EXPECT_THROW(Trainer(device, tiny(), language::Corpus("too short"), Engine::dynamic), Error);
}

TEST(Trainer, RefusesTheCheckpointOfAnotherRunAndStaysAsItIs) {
  host::HostDevice device;
  Trainer trainer(device, tiny(), text(), Engine::dynamic);
  losses(trainer, 2);
  const Checkpoint good = trainer.checkpoint();
  Trainer other(device, tiny(), text(), Engine::dynamic);
  const auto refuses = [&](const auto& change) {
    Checkpoint changed = good;
    change(changed);
    EXPECT_THROW(other.restore(changed), Error);
  };
  refuses([](Checkpoint& c) { c.recipe.width = 64; });
  refuses([](Checkpoint& c) { c.recipe.seed = 1; });
  refuses([](Checkpoint& c) { c.text_checksum ^= 1U; });
  refuses([](Checkpoint& c) { c.characters.pop_back(); });
  refuses([](Checkpoint& c) { c.tensors.pop_back(); });
  refuses([](Checkpoint& c) { c.tensors[3].name = "other"; });
  refuses([](Checkpoint& c) { c.tensors[3].values.pop_back(); });
  EXPECT_EQ(other.steps_done(), 0);
  EXPECT_EQ(losses(other, 2), losses(tiny(), Engine::dynamic, 2));
}

TEST(Recipe, RefusesWhatCanNotBeTrained) {
  const auto refuses = [](const auto& change) {
    Recipe recipe;
    change(recipe);
    EXPECT_THROW(require_valid(recipe), Error);
  };
  EXPECT_NO_THROW(require_valid(Recipe{}));
  refuses([](Recipe& r) { r.batch = 0; });
  refuses([](Recipe& r) { r.heads = 5; });
  refuses([](Recipe& r) { r.dropout = 1; });
  refuses([](Recipe& r) { r.learning_rate = 0; });
  refuses([](Recipe& r) { r.clip = -1; });
  refuses([](Recipe& r) { r.dtype = DataType::bfloat8_b; });
  Recipe recipe;
  EXPECT_THROW(set_field(recipe, "wdith", "1"), Error);
  EXPECT_THROW(set_field(recipe, "width", "wide"), Error);
  EXPECT_THROW(set_field(recipe, "heads", "3000000000"), Error);
  const std::string message = error_of([&] { set_field(recipe, "dtype", "pure_bf16"); });
  EXPECT_EQ(message,
            "cannot set dtype of a training run: 'pure_bf16'; accepted: bfloat16, float32");
}

}  // namespace
}  // namespace howard::training
