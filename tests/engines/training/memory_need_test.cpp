// SPDX-License-Identifier: Apache-2.0
#include "engines/training/memory_need.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/error.h"
#include "engines/host/host_device.h"
#include "engines/training/trainer.h"

namespace howard::training {
namespace {

language::Corpus text() {
  std::string result;
  for (int i = 0; i < 40; ++i) result += "the quick brown fox jumps over the lazy dog. ";
  return language::Corpus(result);
}

/// Returns the most bytes that were in use at once in a run of one step.
double peak_of(const Recipe& recipe, Engine engine) {
  host::HostDevice device;
  device.begin_phase("model");
  Trainer trainer(device, recipe, text(), {.engine = engine});
  trainer.step();
  Bytes peak;
  for (const MemoryPhase& phase : device.memory_phases()) peak = std::max(peak, phase.peak);
  return static_cast<double>(peak.value());
}

constexpr std::int64_t kVocabulary = 96;

Recipe wide(OptimizerKind optimizer) {
  return {.model = {.batch = 1,
                    .sequence = 8,
                    .width = 256,
                    .heads = 2,
                    .layers = 3,
                    .parameters = DataType::float32},
          .optimizer = {.kind = optimizer}};
}

TEST(MemoryNeed, CountsTheParametersOfTheModel) {
  for (const std::int64_t width : {32, 256}) {
    Recipe recipe = wide(OptimizerKind::adamw);
    recipe.model.width = width;
    recipe.model.layers = 4;
    host::HostDevice device;
    Trainer trainer(device, recipe, text(), {.engine = Engine::dynamic});
    std::int64_t elements = 0;
    for (const autograd::Parameter* parameter : trainer.model().parameters()) {
      elements += parameter->value.spec().shape.elements();
    }
    const std::int64_t vocabulary = trainer.tokenizer().vocabulary();
    EXPECT_EQ(memory_need(recipe, vocabulary, false).parameters, static_cast<double>(elements));
  }
}

TEST(MemoryNeed, OfAdaptersInOneLayerIsThatOfTheModelAndOfTheirGradients) {
  Recipe recipe = wide(OptimizerKind::adamw);
  recipe.model.kind = models::ModelKind::llama;
  recipe.model.groups = 2;
  const MemoryNeed all = memory_need(recipe, kVocabulary, false);
  recipe.model.lora = {.rank = 4, .targets = "block_2.*q_linear"};
  const MemoryNeed few = memory_need(recipe, kVocabulary, false);
  const double adapters = 2 * 4 * 256;
  EXPECT_EQ(few.parameters, all.parameters + adapters);
  const double number = recipe.model.compute == DataType::bfloat16 ? 2 : 4;
  EXPECT_EQ(few.tensors, 4 * (all.parameters + 3 * adapters) + number * adapters)
      << "the model, the adapters with two moments, and the adapters' gradients";
}

TEST(MemoryNeed, IsWhatAStepOfAWideModelHoldsButForActivations) {
  for (const auto optimizer : {OptimizerKind::adamw, OptimizerKind::sgd}) {
    for (const Engine engine : {Engine::dynamic, Engine::static_step}) {
      const Recipe recipe = wide(optimizer);
      const MemoryNeed need = memory_need(recipe, kVocabulary, engine != Engine::dynamic);
      const double peak = peak_of(recipe, engine);
      EXPECT_LT(need.tensors, peak);
      EXPECT_GT(need.tensors, 0.8 * peak);
    }
  }
}

// The text has 1800 characters.
TEST(MemoryNeed, IsLessThanWhatLongSequencesHoldAndNotMuchLess) {
  for (const DataType dtype : {DataType::bfloat16, DataType::float32}) {
    const Recipe recipe{.model = {.batch = 2,
                                  .sequence = 1024,
                                  .width = 32,
                                  .heads = 2,
                                  .layers = 8,
                                  .parameters = DataType::float32,
                                  .compute = dtype}};
    const MemoryNeed need = memory_need(recipe, kVocabulary, true);
    const double peak = peak_of(recipe, Engine::static_step);
    EXPECT_LT(need.tensors + need.sequences, peak);
    EXPECT_GT(need.tensors + need.sequences, 0.4 * peak);
  }
}

TEST(MemoryNeed, WhatAMachineHasNotIsRefusedBeforeAnythingIsAllocated) {
  const auto failure = [](const Recipe& recipe, Engine engine) {
    host::HostDevice device;
    device.begin_phase("model");
    try {
      Trainer trainer(device, recipe, text(), {.engine = engine}, Bytes(std::int64_t{4} << 30));
    } catch (const Error& error) {
      EXPECT_EQ(device.memory_phases().front().peak, Bytes(0));
      return std::string(error.what());
    }
    return std::string();
  };
  Recipe recipe = wide(OptimizerKind::adamw);
  EXPECT_EQ(failure(recipe, Engine::static_step), "");
  recipe.model.layers = 1'000'000'000;
  EXPECT_NE(failure(recipe, Engine::dynamic), "");
  recipe = wide(OptimizerKind::adamw);
  recipe.accumulate = 100'000;
  EXPECT_NE(failure(recipe, Engine::static_step), "") << "each batch's calls are recorded";
}

}  // namespace
}  // namespace howard::training
