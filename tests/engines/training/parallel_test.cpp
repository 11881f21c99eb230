// SPDX-License-Identifier: Apache-2.0
//
// Runs on several devices, as threads of this process.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "engines/chip/emulated_chip.h"
#include "engines/host/host_device.h"
#include "engines/language/weights/model_weights.h"
#include "engines/mesh/mesh_member.h"
#include "engines/mesh/thread_ranks.h"
#include "engines/training/parallel/values_of_ranks.h"
#include "engines/training/trainer.h"
#include "engines/training/validation.h"
#include "tests/engines/training/mesh_runs.h"

namespace howard::training {
namespace {

using mesh::PipelineSchedule;
using namespace mesh_runs;  // NOLINT(google-build-using-namespace)

TEST(MeshTraining, OneRankTrainsAsTheTrainerDoes) {
  const Recipe recipe = small_llama();
  const language::Corpus text(text_of_roses());
  host::HostDevice host({.threads = 1});
  Trainer trainer(host, recipe, text, {.engine = Engine::dynamic});
  const Outcome outcome = run({}, recipe, 3);
  for (const double loss : outcome.losses)
    EXPECT_FLOAT_EQ(static_cast<float>(trainer.step().loss), static_cast<float>(loss));
  EXPECT_EQ(trainer.checkpoint(), outcome.end);
}

TEST(MeshTraining, EachMeshAndScheduleGivesTheNumbersOfOneDevice) {
  const Recipe recipe = small_llama();
  const Outcome alone = run({}, recipe, 3);
  EXPECT_LT(alone.losses[2], alone.losses[0]);
  const MeshPlan plans[] = {
      {.ddp = 2},
      {.tp = 2},
      {.blocks = {2, 2}},
      {.blocks = {1, 2, 1}, .schedule = PipelineSchedule::gpipe},
      {.blocks = {2, 1, 1}, .schedule = PipelineSchedule::one_forward_one_back},
      {.ddp = 2, .tp = 2, .blocks = {3, 1}, .schedule = PipelineSchedule::one_forward_one_back}};
  for (const MeshPlan& plan : plans) {
    const Outcome shared = run(plan, recipe, 3);
    const std::string where = fmt::format("DDP {} x TP {}, {} stages, {}", plan.ddp, plan.tp,
                                          plan.stages(), mesh::name_of(plan.schedule));
    EXPECT_LT(distance_of(alone.end, shared.end), 1e-5) << where;
    for (std::size_t i = 0; i < alone.losses.size(); ++i) {
      EXPECT_NEAR(shared.losses[i] / alone.losses[i], 1, 1e-5) << where;
    }
  }
}

TEST(MeshTraining, DividedParametersGiveTheNumbersOfOneDevice) {
  for (const ModelKind kind : {ModelKind::llama, ModelKind::nano_gpt, ModelKind::qwen3}) {
    for (const bool efficient : {false, true}) {
      Recipe recipe = small_llama();
      recipe.model.kind = kind;
      recipe.model.memory_efficient = efficient;
      recipe.model.tied = efficient;
      if (efficient && kind == ModelKind::qwen3) recipe.model.lora = {.rank = 4, .targets = "proj"};
      const Outcome alone = run({}, recipe, 3);
      // Four devices do not divide the rows of all parameters: those stay whole.
      for (const MeshPlan& plan :
           {MeshPlan{.fsdp = 2}, {.fsdp = 4, .lazy = true}, {.ddp = 2, .fsdp = 2, .lazy = true}}) {
        const Outcome shared = run(plan, recipe, 3);
        const std::string where = fmt::format("DDP {} x FSDP {}", plan.ddp, plan.fsdp);
        EXPECT_LT(distance_of(alone.end, shared.end), 1e-5) << where;
        for (std::size_t i = 0; i < alone.losses.size(); ++i) {
          EXPECT_NEAR(shared.losses[i] / alone.losses[i], 1, 1e-5) << where;
        }
      }
    }
  }
}

TEST(MeshTraining, DividedParametersAreDividedAmongLayersToo) {
  Recipe recipe = small_llama();
  recipe.model.width = 128;
  recipe.model.feed_forward = 256;
  const Outcome alone = run({}, recipe, 2);
  const MeshPlan plan{.fsdp = 2, .tp = 2};
  const Outcome shared = run(plan, recipe, 2);
  EXPECT_LT(distance_of(alone.end, shared.end), 1e-5);
  EXPECT_EQ(run(plan, recipe, 2, nullptr, false, Engine::traced).end, shared.end);
  // A run goes on from it, on one device and with other shares.
  EXPECT_NEAR(
      run({.fsdp = 4}, recipe, 1, &shared.end).losses[0] / run({}, recipe, 1, &alone.end).losses[0],
      1, 1e-5);
}

TEST(MeshTraining, StagesDropWhatOneDeviceDrops) {
  Recipe recipe = small_llama();
  recipe.accumulate = 4;
  recipe.model.dropout = 0.2F;
  const Outcome alone = run({}, recipe, 2);
  constexpr auto k1f1b = PipelineSchedule::one_forward_one_back;
  for (const MeshPlan& plan :
       {MeshPlan{.blocks = {1, 2, 1}}, {.blocks = {2, 2}, .schedule = k1f1b, .chunks = 2}}) {
    EXPECT_LT(distance_of(alone.end, run(plan, recipe, 2).end), 1e-5) << plan.stages();
  }
}

TEST(MeshTraining, DividedRowsGiveTheNumbersOfOneDevice) {
  Recipe recipe = small_llama();
  recipe.model.sequence = 64;
  recipe.model.memory_efficient = true;
  const Outcome alone = run({}, recipe, 3);
  for (const MeshPlan& plan : {MeshPlan{.tp = 2, .sequence_parallel = true},
                               {.ddp = 2, .tp = 2, .sequence_parallel = true, .blocks = {2, 2}}}) {
    const Outcome shared = run(plan, recipe, 3);
    EXPECT_LT(distance_of(alone.end, shared.end), 1e-5) << plan.ranks();
    EXPECT_EQ(run(plan, recipe, 3, nullptr, false, Engine::traced).end, shared.end);
  }
}

TEST(MeshTraining, ADividedTokenTableGivesTheNumbersOfOneDevice) {
  Recipe recipe = small_llama();
  recipe.model.sequence = 64;
  recipe.model.divided_table = true;
  host::HostDevice device;
  const autograd::DeviceGroup group(device, 0, 2, 0);
  const auto part = models::make_model(device, recipe.model.with(96, &group));
  EXPECT_EQ(part->parameters().front()->value.spec().shape, (Shape{96, 32}));
  const Outcome alone = run({}, recipe, 2);
  for (const MeshPlan& plan :
       {MeshPlan{.ddp = 2, .tp = 2, .sequence_parallel = true}, {.tp = 2, .blocks = {2, 2}}}) {
    const Outcome shared = run(plan, recipe, 2);
    EXPECT_LT(distance_of(alone.end, shared.end), 1e-5) << plan.ranks();
    EXPECT_NEAR(shared.losses[1] / alone.losses[1], 1, 1e-5) << plan.ranks();
  }
}

TEST(MeshTraining, InterleavedChunksGiveTheNumbersOfOneDevice) {
  Recipe recipe = small_llama();
  recipe.accumulate = 4;
  const Outcome alone = run({}, recipe, 3);
  constexpr auto k1f1b = PipelineSchedule::one_forward_one_back;
  for (const MeshPlan& plan : {MeshPlan{.blocks = {2, 2}, .schedule = k1f1b, .chunks = 2},
                               {.ddp = 2, .blocks = {2, 2}, .schedule = k1f1b, .chunks = 2},
                               {.tp = 2, .blocks = {2, 2}, .schedule = k1f1b, .chunks = 2}}) {
    const Outcome shared = run(plan, recipe, 3);
    EXPECT_LT(distance_of(alone.end, shared.end), 1e-5) << plan.ranks();
    const Outcome traced = run(plan, recipe, 3, nullptr, false, Engine::traced);
    EXPECT_EQ(traced.losses, shared.losses);
    EXPECT_EQ(traced.end, shared.end);
  }
}

TEST(MeshTraining, ChunksThatCannotBeInterleavedAreRefused) {
  const Recipe recipe = small_llama();  // three micro-batches
  constexpr auto k1f1b = PipelineSchedule::one_forward_one_back;
  EXPECT_THROW(run({.blocks = {2, 2}, .schedule = k1f1b, .chunks = 2}, recipe, 1), Error);
  EXPECT_THROW(run({.blocks = {2, 1, 1}, .schedule = k1f1b, .chunks = 2}, recipe, 1), Error);
  EXPECT_THROW(run({.blocks = {2, 1, 1}, .chunks = 2}, recipe, 1), Error);
}

TEST(MeshTraining, MoreChunksWaitLess) {
  Recipe recipe = small_llama();
  recipe.accumulate = 4;
  recipe.model.compute = recipe.model.parameters = DataType::bfloat16;
  constexpr auto k1f1b = PipelineSchedule::one_forward_one_back;
  const auto time = [&](const MeshPlan& plan) {
    return run(plan, recipe, 2, nullptr, true).times.back().seconds();
  };
  const double ttml = time({.blocks = {2, 2}});
  const double whole = time({.blocks = {2, 2}, .schedule = k1f1b});
  EXPECT_LT(whole, 0.8 * ttml) << "the virtual clocks wait for messages only";
  EXPECT_LT(time({.blocks = {2, 2}, .schedule = k1f1b, .chunks = 2}), whole);
}

TEST(MeshTraining, ARunGoesOnOnAnotherMesh) {
  Recipe recipe = small_llama();
  recipe.optimizer.kind = OptimizerKind::adamw;
  recipe.optimizer.learning_rate = 1e-3F;
  const Outcome whole = run({.tp = 2}, recipe, 4);
  const Outcome half = run({.blocks = {2, 2}}, recipe, 2);
  const Outcome rest = run({.ddp = 2}, recipe, 2, &half.end);
  EXPECT_EQ(rest.end.step, 4);
  EXPECT_NEAR(rest.losses.back() / whole.losses.back(), 1, 1e-4);
  // One device reads it too.
  host::HostDevice host({.threads = 1});
  const language::Corpus text(text_of_roses());
  Trainer trainer(host, recipe, text, {.engine = Engine::static_step});
  trainer.restore(half.end);
  EXPECT_NEAR(trainer.step().loss / whole.losses[2], 1, 1e-4);
  Recipe other = recipe;
  other.model.batch = 2;
  EXPECT_THROW(run({.ddp = 2}, other, 1, &half.end), Error);
}

TEST(MeshTraining, ClippedGradientsOfAMeshAreThoseOfOneDevice) {
  Recipe recipe = small_llama();
  recipe.optimizer.clip = 0.1F;
  EXPECT_LT(distance_of(run({}, recipe, 2).end, run({.ddp = 2}, recipe, 2).end), 1e-5);
}

TEST(MeshTraining, TheEmulatedChipsComputeTheSameAndKeepTheTime) {
  Recipe recipe = small_llama();
  recipe.model.compute = DataType::bfloat16;
  recipe.model.parameters = DataType::bfloat16;
  for (const MeshPlan& plan :
       {MeshPlan{.tp = 2}, {.blocks = {2, 2}}, {.workers = 2, .three_tiers = true}}) {
    const Outcome host = run(plan, recipe, 2);
    const Outcome chips = run(plan, recipe, 2, nullptr, true);
    EXPECT_EQ(host.losses, chips.losses);
    EXPECT_EQ(host.end, chips.end);
    EXPECT_EQ(chips.times, run(plan, recipe, 2, nullptr, true).times) << "virtual times repeat";
    EXPECT_GT(chips.times[1], SimTime());
  }
}

TEST(MeshTraining, StaticAndTracedStepsAreThoseOfTheDynamicEngine) {
  Recipe recipe = small_llama();
  recipe.optimizer.kind = OptimizerKind::adamw;
  recipe.optimizer.learning_rate = 1e-3F;
  recipe.schedule.schedule = autograd::Schedule::warmup_linear;
  recipe.model.dropout = 0.1F;
  for (const MeshPlan& plan :
       {MeshPlan{.ddp = 2},
        {.tp = 2},
        {.ddp = 2, .tp = 2},
        {.blocks = {2, 2}},
        {.blocks = {1, 2, 1}, .schedule = PipelineSchedule::gpipe},
        {.ddp = 2, .blocks = {2, 2}, .schedule = PipelineSchedule::one_forward_one_back}}) {
    const Outcome dynamic = run(plan, recipe, 3);
    for (const Engine engine : {Engine::static_step, Engine::traced}) {
      const Outcome other = run(plan, recipe, 3, nullptr, false, engine);
      EXPECT_EQ(other.losses, dynamic.losses) << plan.ddp << " " << name_of(engine);
      EXPECT_EQ(other.end, dynamic.end) << plan.ddp << " " << name_of(engine);
    }
  }
  recipe.schedule.schedule = autograd::Schedule::identity;
  for (const MeshPlan& plan : {MeshPlan{.workers = 2}, {.workers = 1, .three_tiers = true}}) {
    const std::vector<double> dynamic = run(plan, recipe, 3).losses;
    for (const Engine engine : {Engine::static_step, Engine::traced}) {
      EXPECT_EQ(run(plan, recipe, 3, nullptr, false, engine).losses, dynamic) << name_of(engine);
    }
  }
}

TEST(MeshTraining, ATraceOfAMeshTakesLessOfTheHost) {
  Recipe recipe = small_llama();
  recipe.model.compute = recipe.model.parameters = DataType::bfloat16;
  for (const MeshPlan& plan : {MeshPlan{.ddp = 2}, {.blocks = {2, 2}}, {.workers = 1}}) {
    const Outcome dynamic = run(plan, recipe, 2, nullptr, true);
    const Outcome traced = run(plan, recipe, 2, nullptr, true, Engine::traced);
    EXPECT_EQ(traced.losses, dynamic.losses);
    EXPECT_LT(traced.times[1].seconds(), 0.6 * dynamic.times[1].seconds()) << plan.ranks();
  }
}

using Weights = std::map<std::string, language::WeightTensor>;

/// The weights after some steps under Hugging Face's names, and the loss of held-out sequences.
struct Taken {
  Weights weights;
  double validation_loss = 0;
};

constexpr std::int64_t kValidated = 3;

Taken weights_of(const MeshPlan& plan, const Recipe& recipe, const std::string& text, int steps,
                 std::span<const language::Safetensors> from = {}) {
  Taken taken;
  mesh::run_as_threads(plan.ranks(), [&](mesh::Communicator& ranks) {
    host::HostDevice host({.threads = 1});
    mesh::MeshMember member(host, ranks, groups_of(plan, ranks.rank()));
    language::Corpus corpus(text);
    const std::vector<std::uint32_t> held_out = hold_out(corpus);
    Trainer trainer(member, ranks, plan, recipe, corpus,
                    {.held_out = held_out, .validated = kValidated});
    if (!from.empty()) {
      EXPECT_TRUE(trainer.take_weights(from).unfilled.empty());
    }
    for (int i = 0; i < steps; ++i) trainer.step();
    const double loss = trainer.validation_loss();
    const std::vector<NamedValues> weights = trainer.weights();
    if (ranks.rank() != 0) {
      EXPECT_TRUE(weights.empty());
      return;
    }
    taken = {language::exported_weights(weights, recipe.model, corpus.tokenizer->vocabulary()),
             loss};
  });
  return taken;
}

/// Trains on one device and returns its weights.
Taken weights_of_one_device(const Recipe& recipe, const std::string& text, int steps) {
  host::HostDevice host({.threads = 1});
  language::Corpus corpus(text);
  std::vector<std::uint32_t> held_out = hold_out(corpus);
  Trainer trainer(host, recipe, corpus, {.engine = Engine::dynamic});
  for (int i = 0; i < steps; ++i) trainer.step();
  Validation validation(host, trainer.model(), std::move(held_out), kValidated);
  return {language::exported_weights(trainer.weights(), recipe.model), double{validation.loss()}};
}

/// The largest distance of a tensor from what it should be, as a share of the latter's norm.
double distance_of(const Weights& one, const Weights& other) {
  double largest = 0;
  EXPECT_EQ(one.size(), other.size());
  for (const auto& [name, tensor] : one) {
    const auto found = other.find(name);
    if (found == other.end() || found->second.shape != tensor.shape) {
      ADD_FAILURE() << name << " has another shape, or none";
      continue;
    }
    double difference = 0, norm = 0;
    for (std::size_t i = 0; i < tensor.values.size(); ++i) {
      difference += std::pow(double{tensor.values[i]} - double{found->second.values[i]}, 2);
      norm += std::pow(double{tensor.values[i]}, 2);
    }
    largest = std::max(largest, std::sqrt(difference / norm));
  }
  return largest;
}

TEST(MeshTraining, WeightsAndValidationAreThoseOfOneDevice) {
  const Recipe recipe = small_llama();
  const Taken alone = weights_of_one_device(recipe, text_of_roses(), 3);
  EXPECT_EQ(alone.weights.count("model.layers.3.self_attn.k_proj.weight"), 1U);
  for (const MeshPlan& plan :
       {MeshPlan{.ddp = 2},
        {.ddp = 4},
        {.tp = 2},
        {.blocks = {1, 2, 1}},
        {.ddp = 2, .tp = 2, .blocks = {3, 1}, .schedule = PipelineSchedule::one_forward_one_back},
        {.fsdp = 2},
        {.workers = 1, .three_tiers = true},
        {.ddp = 2, .tp = 2, .workers = 1}}) {
    const Taken shared = weights_of(plan, recipe, text_of_roses(), 3);
    EXPECT_LT(distance_of(alone.weights, shared.weights), 1e-5) << plan.ranks();
    EXPECT_NEAR(shared.validation_loss / alone.validation_loss, 1, 1e-5) << plan.ranks();
  }
}

TEST(MeshTraining, WeightsOfFilesReachEachShare) {
  // So few characters that two devices round the vocabulary up to more rows than one does.
  std::string text;
  for (int i = 0; i < 60; ++i) text += "a rose is a rose. ";
  const Recipe recipe = small_llama();
  const Taken start = weights_of_one_device(recipe, text, 2);
  const std::vector<language::Safetensors> files{language::Safetensors(
      language::safetensors_bytes(start.weights, language::WeightType::float32), "weights")};
  for (const MeshPlan& plan : {MeshPlan{.tp = 2},
                               {.ddp = 2, .tp = 2, .blocks = {2, 2}},
                               {.workers = 2},
                               {.fsdp = 2, .tp = 2},
                               {.tp = 2, .workers = 1, .three_tiers = true}}) {
    EXPECT_EQ(distance_of(start.weights, weights_of(plan, recipe, text, 0, files).weights), 0)
        << plan.ranks();
  }
}

TEST(Tiers, OneWorkerTrainsAsOneDevice) {
  const Recipe recipe = small_llama();
  const Outcome alone = run({}, recipe, 3);
  EXPECT_EQ(run({.workers = 1}, recipe, 3).losses, alone.losses);
  EXPECT_EQ(run({.workers = 1, .three_tiers = true}, recipe, 3).losses, alone.losses);
}

TEST(Tiers, WorkersThatAreMeshesTrainAsThoseOfOneDevice) {
  const Recipe recipe = small_llama();
  const std::vector<double> alone = run({.workers = 2}, recipe, 3).losses;
  for (const MeshPlan& plan : {MeshPlan{.ddp = 2, .workers = 2},
                               {.tp = 2, .workers = 2, .three_tiers = true},
                               {.ddp = 2, .tp = 2, .workers = 2}}) {
    const std::vector<double> losses = run(plan, recipe, 3).losses;
    for (std::size_t i = 0; i < alone.size(); ++i) {
      EXPECT_NEAR(losses[i] / alone[i], 1, 1e-5) << plan.ddp << " x " << plan.tp;
    }
  }
}

TEST(Tiers, SendTtmlsMessagesAndBytes) {
  // 51 tensors for 6 blocks as in nanollama3.
  Recipe recipe = small_llama();
  recipe.model.layers = 6;
  recipe.accumulate = 1;
  recipe.model.parameters = recipe.model.compute = DataType::bfloat16;
  const std::int64_t tensors = 3 + 8 * 6;
  const std::int64_t steps = 2;
  for (const int workers : {1, 3}) {
    for (const bool three : {false, true}) {
      const MeshPlan plan{.workers = workers, .three_tiers = three};
      const Outcome outcome = run(plan, recipe, steps);
      // Beside them, each rank tells rank 0 of its step and is told.
      const std::int64_t talk =
          2 * (plan.ranks() - 1) * static_cast<std::int64_t>(sizeof(StepOutcome));
      // The parameters, from the optimizer to the aggregator and from there to each worker.
      EXPECT_EQ(outcome.start.count, (workers + (three ? 1 : 0)) * tensors);
      // W T gradients and W T parameters; in three tiers T of each more.
      const std::int64_t passes = 2 * workers + (three ? 2 : 0);
      EXPECT_EQ(outcome.sent.count, steps * (passes * tensors + 2 * (plan.ranks() - 1)));
      host::HostDevice host({.threads = 1});
      const language::Corpus text(text_of_roses());
      const std::int64_t parameters =
          Trainer(host, recipe, text, {.engine = Engine::dynamic}).parameters();
      EXPECT_EQ(outcome.sent.bytes, steps * (passes * parameters * 2 + talk))
          << workers << " workers, " << (three ? 3 : 2) << " tiers";
    }
  }
}

TEST(Tiers, WorkersDrawBatchesOfTheirOwn) {
  const Recipe recipe = small_llama();
  EXPECT_NE(run({.workers = 2}, recipe, 1).losses, run({.workers = 1}, recipe, 1).losses);
}

}  // namespace
}  // namespace howard::training
