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
  return {.model = {.batch = 4,
                    .sequence = 16,
                    .width = 32,
                    .heads = 2,
                    .layers = 1,
                    .dropout = 0.1F,
                    .parameters = DataType::float32},
          .optimizer = {.learning_rate = 3e-3F},
          .schedule = {.steps = 20}};
}

/// Returns a recipe in which nothing changes from step to step.
Recipe fixed() {
  Recipe recipe = tiny();
  recipe.model.dropout = 0;
  recipe.optimizer.kind = OptimizerKind::sgd;
  return recipe;
}

std::vector<float> losses(Trainer& trainer, int steps) {
  std::vector<float> result;
  for (int i = 0; i < steps; ++i) result.push_back(static_cast<float>(trainer.step().loss));
  return result;
}

std::vector<float> losses(const Recipe& recipe, Engine engine, int steps) {
  host::HostDevice device;
  Trainer trainer(device, recipe, text(), {.engine = engine});
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
  recipe.schedule.schedule = autograd::Schedule::warmup_linear;
  EXPECT_EQ(losses(recipe, Engine::dynamic, 8), losses(recipe, Engine::static_step, 8));
  EXPECT_EQ(losses(recipe, Engine::dynamic, 8), losses(recipe, Engine::traced, 8))
      << "AdamW's numbers and the seeds of dropout are on the device";
  EXPECT_EQ(losses(fixed(), Engine::dynamic, 8), losses(fixed(), Engine::traced, 8));
}

TEST(Trainer, ATraceOnTheChipWithValuesGivesTheHostsLosses) {
  const auto run = [](Engine engine) {
    host::HostDevice values;
    chip::EmulatedChip device(chip::load_profiles(), {.values = &values});
    Trainer trainer(device, tiny(), text(), {.engine = engine});
    return losses(trainer, 4);
  };
  EXPECT_EQ(run(Engine::traced), losses(tiny(), Engine::dynamic, 4));
}

// The run has dropout, shuffled data over several epochs, AdamW's moments, a schedule and
// accumulation.
TEST(Trainer, AResumedRunGivesTheLossesOfOneThatNeverStoppedToTheBit) {
  for (const Engine engine : {Engine::dynamic, Engine::static_step, Engine::traced}) {
    Recipe recipe = tiny();
    recipe.model.batch = 16;
    recipe.accumulate = 2;
    recipe.schedule.schedule = autograd::Schedule::warmup_linear;
    if (engine == Engine::dynamic) recipe.optimizer.clip = 0.5F;
    const std::vector<float> straight = losses(recipe, engine, 20);

    host::HostDevice device;
    Trainer first(device, recipe, text(), {.engine = engine});
    std::vector<float> parts = losses(first, 10);
    const std::string bytes = checkpoint_bytes(first.checkpoint());
    Trainer second(device, recipe, text(), {.engine = engine});
    losses(second, 3);  // its losses, of a run with another past
    second.restore(parse_checkpoint(bytes, "test"));
    EXPECT_EQ(second.steps_done(), 10);
    std::ranges::copy(losses(second, 10), std::back_inserter(parts));
    EXPECT_EQ(parts, straight);
  }
}

TEST(Trainer, AdaptersAreTrainedAndTheWeightsStayToTheBit) {
  for (const Engine engine : {Engine::dynamic, Engine::static_step, Engine::traced}) {
    Recipe recipe = tiny();
    recipe.model.dropout = 0;
    recipe.model.kind = models::ModelKind::llama;
    recipe.model.groups = 1;
    recipe.model.lora = {.rank = 4, .targets = "linear w1 fc"};
    recipe.optimizer.learning_rate = 0.02F;
    recipe.schedule.steps = 16;
    host::HostDevice device;
    Trainer trainer(device, recipe, text(), {.engine = engine});
    const Checkpoint start = trainer.checkpoint();
    std::vector<float> straight = losses(trainer, 8);
    const std::string half = checkpoint_bytes(trainer.checkpoint());
    std::ranges::copy(losses(trainer, 8), std::back_inserter(straight));
    EXPECT_LT(straight.back(), straight.front());
    const Checkpoint end = trainer.checkpoint();
    ASSERT_EQ(start.tensors.size(), end.tensors.size());
    for (std::size_t i = 0; i < end.tensors.size(); ++i) {
      const bool moves = end.tensors[i].name.find("/lora_") != std::string::npos;
      EXPECT_EQ(end.tensors[i] != start.tensors[i], moves) << end.tensors[i].name;
    }
    Trainer again(device, recipe, text(), {.engine = engine});
    again.restore(parse_checkpoint(half, "half"));
    losses(again, 8);
    EXPECT_EQ(again.checkpoint(), end);
  }
}

TEST(Trainer, GradientsOfAccumulatedBatchesAreThoseOfTheLargeOne) {
  Recipe recipe = fixed();
  recipe.model.compute = DataType::float32;
  recipe.model.batch = 8;
  const std::vector<float> large = losses(recipe, Engine::dynamic, 4);
  recipe.model.batch = 4;
  recipe.accumulate = 2;
  const std::vector<float> halves = losses(recipe, Engine::dynamic, 4);
  for (std::size_t i = 0; i < large.size(); ++i) EXPECT_NEAR(halves[i], large[i], 1e-5F) << i;
}

TEST(Trainer, ClippingChangesTheSteps) {
  Recipe recipe = fixed();
  recipe.optimizer.learning_rate = 0.5F;
  const std::vector<float> free = losses(recipe, Engine::dynamic, 3);
  recipe.optimizer.clip = 1e-4F;
  const std::vector<float> clipped = losses(recipe, Engine::dynamic, 3);
  EXPECT_EQ(clipped[0], free[0]);
  EXPECT_GT(clipped[2], free[2]);
}

TEST(Trainer, ClippingIsTheSameInEachEngine) {
  Recipe recipe = tiny();
  recipe.model.compute = DataType::float32;
  recipe.optimizer.clip = 0.05F;
  const std::vector<float> dynamic = losses(recipe, Engine::dynamic, 6);
  for (const Engine engine : {Engine::static_step, Engine::traced}) {
    const std::vector<float> others = losses(recipe, engine, 6);
    for (std::size_t i = 0; i < dynamic.size(); ++i) {
      EXPECT_NEAR(others[i], dynamic[i], 1e-4F) << i;
    }
  }
  recipe.model.compute = DataType::bfloat16;
  EXPECT_EQ(losses(recipe, Engine::static_step, 6), losses(recipe, Engine::traced, 6));
}

TEST(Trainer, OptionsOfTheRecipeReachTheModelAndTheOptimizer) {
  Recipe recipe = tiny();
  recipe.model.dropout = 0;
  recipe.model.compute = DataType::float32;
  const std::vector<float> plain = losses(recipe, Engine::dynamic, 4);
  const auto differs = [&](auto change) {
    Recipe other = recipe;
    change(other);
    const std::vector<float> its = losses(other, Engine::dynamic, 4);
    EXPECT_NE(its, plain);
    return its;
  };
  differs([](Recipe& r) { r.optimizer.adamw.beta1 = 0.5F; });
  differs([](Recipe& r) { r.optimizer.adamw.epsilon = 1e-2F; });
  differs([](Recipe& r) { r.model.tied = true; });
  differs([](Recipe& r) { r.model.fixed_positions = true; });
  differs([](Recipe& r) { r.model.parameters = r.model.compute = DataType::bfloat16; });
  differs([](Recipe& r) { r.model.kind = ModelKind::llama, r.model.groups = 1; });
  differs(
      [](Recipe& r) { r.schedule.schedule = autograd::Schedule::speedrun, r.schedule.warmup = 2; });
  const auto none = differs([](Recipe& r) { r.optimizer.kind = OptimizerKind::no_op; });
  recipe.optimizer.kind = OptimizerKind::sgd;
  const std::vector<float> sgd = losses(recipe, Engine::dynamic, 4);
  for (const auto change :
       {+[](Recipe& r) { r.optimizer.sgd.momentum = 0.9F; },
        +[](Recipe& r) { r.optimizer.sgd.momentum = 0.9F, r.optimizer.sgd.nesterov = true; },
        +[](Recipe& r) { r.optimizer.sgd.momentum = 0.9F, r.optimizer.sgd.dampening = 0.5F; },
        +[](Recipe& r) { r.optimizer.sgd.weight_decay = 1; }}) {
    Recipe other = recipe;
    other.optimizer.learning_rate = recipe.optimizer.learning_rate = 0.1F;
    change(other);
    EXPECT_NE(losses(other, Engine::dynamic, 4), losses(recipe, Engine::dynamic, 4));
  }
}

// Sums in bfloat16 lose updates below half of their last bit.
TEST(Trainer, CompensatedSumsKeepSmallUpdates) {
  Recipe recipe = tiny();
  recipe.model.dropout = 0;
  recipe.model.parameters = DataType::bfloat16;
  recipe.optimizer.learning_rate = 2e-5F;
  recipe.optimizer.adamw.weight_decay = 0;
  const float plain = losses(recipe, Engine::dynamic, 60).back();
  recipe.optimizer.adamw.kahan = true;
  const float kept = losses(recipe, Engine::dynamic, 60).back();
  recipe.optimizer.adamw.kahan = false;
  recipe.model.parameters = DataType::float32;
  const float exact = losses(recipe, Engine::dynamic, 60).back();
  EXPECT_LT(std::abs(kept - exact), std::abs(plain - exact));
}

// All but the replayable AdamW read their numbers from the recipe in each step.
TEST(Trainer, OptionsOfAdamWAndSchedulesChangeALossInTheSameWayInEachEngine) {
  const auto changes = std::to_array<void (*)(Recipe&)>(
      {+[](Recipe& r) { r.optimizer.adamw.amsgrad = true; },
       +[](Recipe& r) { r.beta1.steps = 5, r.beta1.start = 0.2F; },
       +[](Recipe& r) { r.schedule.schedule = autograd::Schedule::cosine; },
       +[](Recipe& r) { r.schedule.schedule = autograd::Schedule::step, r.schedule.size = 1; },
       +[](Recipe& r) {
         r.schedule.schedule = autograd::Schedule::sequential,
         r.schedule.parts = autograd::parse_schedule_parts("identity:2,linear:2");
       },
       +[](Recipe& r) { r.optimizer.clip = 0.01F; }});
  for (const auto change : changes) {
    Recipe recipe = tiny();
    recipe.schedule.steps = 6;
    recipe.optimizer.adamw.beta2 = 0.5F;  // so that second moments fall as well
    recipe.model.compute = DataType::float32;
    const std::vector<float> plain = losses(recipe, Engine::dynamic, 6);
    change(recipe);
    const std::vector<float> dynamic = losses(recipe, Engine::dynamic, 6);
    EXPECT_NE(dynamic, plain);
    const std::vector<float> recorded = losses(recipe, Engine::static_step, 6);
    if (recipe.optimizer.clip == 0) {
      EXPECT_EQ(recorded, dynamic);
    }
    if (recipe.beta1.steps > 0) {
      EXPECT_THROW(losses(recipe, Engine::traced, 1), Error);
    } else {
      EXPECT_EQ(losses(recipe, Engine::traced, 6), recorded);
    }
  }
}

TEST(Trainer, SgdInOneProgramTrainsAsItsCompositeDoes) {
  Recipe recipe = tiny();
  recipe.optimizer.kind = OptimizerKind::sgd;
  recipe.optimizer.learning_rate = 0.1F;
  recipe.model.dropout = 0;
  recipe.model.compute = DataType::float32;
  recipe.optimizer.sgd.momentum = 0.9F;
  recipe.optimizer.sgd.dampening = 0.5F;
  recipe.optimizer.sgd.weight_decay = 0.1F;
  const std::vector<float> composite = losses(recipe, Engine::dynamic, 6);
  recipe.optimizer.kind = OptimizerKind::fused_sgd;
  const std::vector<float> fused = losses(recipe, Engine::dynamic, 6);
  for (std::size_t i = 0; i < fused.size(); ++i) EXPECT_NEAR(fused[i], composite[i], 1e-5F);
  // The dampening begins with the second step, which a recorded first one does not know.
  EXPECT_EQ(losses(recipe, Engine::static_step, 6), fused);
  EXPECT_THROW(losses(recipe, Engine::traced, 2), Error);
  recipe.optimizer.sgd.dampening = 0;
  EXPECT_EQ(losses(recipe, Engine::traced, 6), losses(recipe, Engine::dynamic, 6));
}

TEST(Trainer, RoundingByChanceKeepsSmallUpdatesAndIsResumed) {
  Recipe recipe = tiny();
  recipe.model.dropout = 0;
  recipe.model.parameters = DataType::bfloat16;
  recipe.optimizer.kind = OptimizerKind::fused_adamw;
  recipe.optimizer.learning_rate = 2e-5F;
  recipe.optimizer.adamw.weight_decay = 0;
  const float plain = losses(recipe, Engine::static_step, 60).back();
  recipe.optimizer.adamw.amsgrad = recipe.optimizer.stochastic_rounding = true;
  host::HostDevice device;
  Trainer trainer(device, recipe, text(), {.engine = Engine::dynamic});
  static_cast<void>(losses(trainer, 30));
  const Checkpoint half = parse_checkpoint(checkpoint_bytes(trainer.checkpoint()), "half");
  const std::vector<float> rest = losses(trainer, 30);
  EXPECT_LT(rest.back(), plain);
  Trainer again(device, recipe, text(), {.engine = Engine::static_step});
  again.restore(half);
  EXPECT_EQ(losses(again, 30), rest);
  recipe.model.parameters = DataType::float32;
  EXPECT_THROW(losses(recipe, Engine::dynamic, 1), Error);
}

TEST(Trainer, TheEmulatedChipTrainsWithTheHostsNumbers) {
  host::HostDevice host;
  chip::EmulatedChip chip(chip::load_profiles(), {.values = &host});
  Trainer trainer(chip, tiny(), text(), {.engine = Engine::dynamic});
  EXPECT_EQ(losses(trainer, 3), losses(tiny(), Engine::dynamic, 3));
  EXPECT_GT(chip.now(), SimTime{});
}

TEST(Trainer, ADeviceWithoutValuesIsRefused) {
  chip::EmulatedChip chip(chip::load_profiles());
  EXPECT_THROW(Trainer(chip, tiny(), text(), {.engine = Engine::dynamic}), Error);
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
    recipe.optimizer.learning_rate = 1e38F;
    Trainer trainer(device, recipe, text(), {.engine = engine});
    const std::string failure = failure_of(trainer, 5);
    EXPECT_NE(failure.find("not finite in step "), std::string::npos) << failure;
    EXPECT_NE(failure.find(", first in step "), std::string::npos) << failure;
    EXPECT_NE(failure.find("program "), std::string::npos) << failure;
  }
}

TEST(Trainer, ANormThatIsNotFiniteIsFoundWhenGradientsAreClipped) {
  host::HostDevice device;
  Recipe recipe = fixed();
  recipe.optimizer.learning_rate = 1e38F;
  recipe.optimizer.clip = 1;
  Trainer trainer(device, recipe, text(), {.engine = Engine::dynamic});
  const std::string failure = failure_of(trainer, 5);
  EXPECT_NE(failure.find(", first in step "), std::string::npos) << failure;
}

TEST(Trainer, RefusesWhatAnEngineCanNotDo) {
  host::HostDevice device;
  Recipe fused = tiny();
  fused.optimizer.kind = OptimizerKind::moreh_adamw;
  EXPECT_THROW(Trainer(device, fused, text(), {.engine = Engine::traced}), Error);
  Recipe scheduled = fixed();
  scheduled.schedule.schedule = autograd::Schedule::warmup_linear;
  Trainer traced(device, scheduled, text(), {.engine = Engine::traced});
  EXPECT_THROW(traced.step(), Error) << "the rate of SGD changes from step to step";
  EXPECT_THROW(Trainer(device, tiny(), language::Corpus("too short"), {.engine = Engine::dynamic}),
               Error);
}

TEST(Trainer, RefusesTheCheckpointOfAnotherRunAndStaysAsItIs) {
  host::HostDevice device;
  Trainer trainer(device, tiny(), text(), {.engine = Engine::dynamic});
  losses(trainer, 2);
  const Checkpoint good = trainer.checkpoint();
  Trainer other(device, tiny(), text(), {.engine = Engine::dynamic});
  const auto refuses = [&](const auto& change) {
    Checkpoint changed = good;
    change(changed);
    EXPECT_THROW(other.restore(changed), Error);
  };
  refuses([](Checkpoint& c) { c.recipe.model.width = 64; });
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
  refuses([](Recipe& r) { r.model.batch = 0; });
  refuses([](Recipe& r) { r.model.heads = 5; });
  refuses([](Recipe& r) { r.model.dropout = 1; });
  refuses([](Recipe& r) { r.optimizer.learning_rate = 0; });
  refuses([](Recipe& r) { r.optimizer.clip = -1; });
  refuses([](Recipe& r) { r.model.compute = DataType::bfloat8_b; });
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
