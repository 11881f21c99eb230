// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "engines/chip/emulated_chip.h"
#include "engines/host/host_device.h"
#include "engines/models/experts.h"
#include "engines/models/layers.h"
#include "engines/training/trainer.h"

namespace howard::training {
namespace {

language::Corpus foxes() {
  std::string result;
  for (int i = 0; i < 12; ++i) result += "the quick brown fox jumps over the lazy dog. ";
  return language::Corpus(result);
}

/// A deepseek of two blocks, the second of which has experts in groups.
Recipe with_experts() {
  return {.model = {.kind = ModelKind::deepseek,
                    .batch = 2,
                    .sequence = 32,
                    .width = 32,
                    .heads = 2,
                    .layers = 2,
                    .feed_forward = 32,
                    .deepseek = {.dense_layers = 1,
                                 .experts = 4,
                                 .chosen = 1,
                                 .expert_width = 32,
                                 .query_rank = 32,
                                 .latent_rank = 32,
                                 .plain_width = 32,
                                 .value_width = 64},
                    .parameters = DataType::bfloat16,
                    .fused_attention = true,
                    .joined_swiglu = true},
          .optimizer = {.kind = OptimizerKind::fused_adamw, .learning_rate = 1e-2F},
          .schedule = {.steps = 40},
          .accumulate = 2};
}

/// What a run has done: its losses, and the bytes of its state.
struct Done {
  std::vector<double> losses;
  std::string bytes;

  friend bool operator==(const Done&, const Done&) = default;
};

Done trained(Trainer& trainer, int steps) {
  Done done;
  for (int i = 0; i < steps; ++i) done.losses.push_back(trainer.step().loss);
  done.bytes = checkpoint_bytes(trainer.checkpoint());
  return done;
}

const std::vector<float>& biases_of(const Checkpoint& checkpoint) {
  const auto found = std::ranges::find(checkpoint.tensors, "DeepSeek/blocks/1/ffn/expert_bias",
                                       &NamedValues::name);
  EXPECT_NE(found, checkpoint.tensors.end());
  return found->values;
}

TEST(DeepSeekTraining, ItsMatricesBeginAsTtmlsLayersDo) {
  models::RandomValues random(1);
  const auto most = [&](const std::string& name) {
    return std::ranges::max(random.of("DeepSeek/" + name, 64, 16));
  };
  EXPECT_EQ(most("blocks/0/attn/q_norm/gamma"), 1);
  for (const char* const name : {"blocks/0/attn/wo/weight", "blocks/1/ffn/gate/weight"}) {
    EXPECT_LE(most(name), 0.25F) << "1 / sqrt(16)";
    EXPECT_GT(most(name), 0.24F);
  }
  EXPECT_LT(most("tok_emb/weight"), 0.12F) << "six deviations of 0.02";
}

TEST(DeepSeekTraining, TheLossFalls) {
  host::HostDevice device;
  Trainer trainer(device, with_experts(), foxes(), {});
  const Done done = trained(trainer, 30);
  EXPECT_LT(done.losses.back(), 0.6 * done.losses.front());
}

// The traced engine has no AdamW in one program.
TEST(DeepSeekTraining, AResumedRunIsTheOneThatNeverStoppedToTheByteInEachEngine) {
  for (const bool memory_efficient : {false, true}) {
    Recipe recipe = with_experts();
    recipe.model.memory_efficient = memory_efficient;
    if (memory_efficient) {
      recipe.optimizer.kind = OptimizerKind::adamw;
      recipe.model.parameters = DataType::float32;
    }
    std::vector<Done> all;
    for (const Engine engine : {Engine::dynamic, Engine::static_step, Engine::traced}) {
      if (engine == Engine::traced && !memory_efficient) continue;
      host::HostDevice device;
      Trainer straight(device, recipe, foxes(), {.engine = engine});
      trained(straight, 3);
      const std::string half = checkpoint_bytes(straight.checkpoint());
      all.push_back(trained(straight, 3));
      Trainer resumed(device, recipe, foxes(), {.engine = engine});
      trained(resumed, 1);  // a run with another past
      resumed.restore(parse_checkpoint(half, "test"));
      EXPECT_EQ(trained(resumed, 3), all.back()) << name_of(engine);
    }
    for (const Done& done : all) EXPECT_EQ(done, all.front()) << "in each engine";
  }
}

TEST(DeepSeekTraining, BiasesOfExpertsMoveWithEachUpdateAndTheirMeanStaysZero) {
  host::HostDevice device;
  Trainer trainer(device, with_experts(), foxes(), {});
  EXPECT_EQ(biases_of(trainer.checkpoint()), std::vector<float>(4));
  trained(trainer, 1);
  const std::vector<float> moved = biases_of(trainer.checkpoint());
  float sum = 0, most = 0;
  for (const float bias : moved) {
    sum += bias;
    most = std::max(most, std::abs(bias));
  }
  EXPECT_NEAR(sum, 0, 1e-9);
  EXPECT_GT(most, 0);
  EXPECT_LT(most, 2 * models::kBiasStep);
}

TEST(DeepSeekTraining, TheChipTrainsWithTheHostsNumbersInTheSameTimeEachRun) {
  const auto on_chip = [](SimTime& time) {
    host::HostDevice values;
    chip::EmulatedChip device(chip::load_profiles(), {.values = &values});
    Trainer trainer(device, with_experts(), foxes(), {});
    const Done done = trained(trainer, 2);
    time = device.now();
    return done;
  };
  SimTime first, second;
  const Done done = on_chip(first);
  EXPECT_EQ(on_chip(second), done);
  EXPECT_EQ(first, second);
  host::HostDevice host;
  Trainer trainer(host, with_experts(), foxes(), {});
  EXPECT_EQ(trained(trainer, 2), done);
}

}  // namespace
}  // namespace howard::training
