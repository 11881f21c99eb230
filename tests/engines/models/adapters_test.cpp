// SPDX-License-Identifier: Apache-2.0
#include "engines/models/adapters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "engines/autograd/host_values.h"
#include "engines/models/language_model.h"
#include "engines/models/layers.h"
#include "tests/engines/autograd/gradient_check.h"

namespace howard::models {
namespace {

using autograd::Tape;
using reference::ReferenceDevice;

ModelOptions adapted(ModelKind kind) {
  const char* const targets =
      kind == ModelKind::llama ? "q_linear w2$ fc$" : "q_proj down_proj$ fc$";
  return {.kind = kind,
          .batch = 1,
          .sequence = 3,
          .width = 8,
          .heads = 2,
          .groups = 1,
          .layers = 2,
          .feed_forward = 6,
          .vocabulary = 5,
          .parameters = DataType::float32,
          .compute = DataType::float32,
          .lora = {.rank = 2, .alpha = 3, .targets = targets}};
}

struct Filled {
  Filled(ReferenceDevice& device, const ModelOptions& options)
      : model(make_model(device, options)) {
    unsigned seed = 1;
    for (autograd::Parameter* parameter : model->parameters()) {
      reference::fill_random(device, parameter->value, seed++, 0.5);
      if (parameter->trained) trained.push_back(parameter);
    }
    const std::vector<std::uint32_t> tokens{1, 4, 2};
    autograd::write_indices(device.command_queue(0), model->tokens(), tokens);
    autograd::write_indices(device.command_queue(0), model->targets(), tokens);
  }

  std::unique_ptr<LanguageModel> model;
  std::vector<autograd::Parameter*> trained;
};

TEST(Adapters, TheirGradientsAreThoseOfTheLossAndTheRestIsFrozen) {
  for (const ModelKind kind : {ModelKind::llama, ModelKind::qwen3}) {
    for (const bool again : {false, true}) {
      ReferenceDevice device;
      ModelOptions options = adapted(kind);
      options.memory_efficient = again;
      const Filled filled(device, options);
      EXPECT_EQ(filled.trained.size(), 10U)
          << "two matrices of two layers in two blocks, and of the head";
      reference::expect_gradients(device, filled.trained,
                                  [&](Tape& tape) {
                                    return filled.model->loss(tape, filled.model->tokens(),
                                                              filled.model->targets());
                                  },
                                  {.compute = DataType::float32});
      for (const autograd::Parameter* parameter : filled.model->parameters()) {
        EXPECT_FALSE(!parameter->trained && parameter->gradient) << parameter->name;
      }
    }
  }
}

TEST(Adapters, AtFirstTheyChangeNothing) {
  const auto logits = [](int rank) {
    ReferenceDevice device;
    ModelOptions options = adapted(ModelKind::llama);
    options.lora.rank = rank;
    const auto model = make_model(device, options);
    write_random(device.command_queue(0), model->parameters(), 4);
    const std::vector<std::uint32_t> tokens{1, 4, 2};
    autograd::write_indices(device.command_queue(0), model->tokens(), tokens);
    Tape tape(device, {.compute = DataType::float32, .records = false});
    return device.values(tape.tensor(model->logits(tape, model->tokens())));
  };
  EXPECT_EQ(logits(2), logits(0));
}

TEST(Adapters, AreMultipliedByAlphaOverTheirRank) {
  EXPECT_FLOAT_EQ((LoraOptions{.rank = 8, .alpha = 16}).scale(), 2);
  EXPECT_FLOAT_EQ((LoraOptions{.rank = 16, .alpha = 16, .rank_stabilized = true}).scale(), 4);
}

TEST(Adapters, WhatTheyAreNotForIsRefused) {
  ReferenceDevice device;
  const auto refuses = [&](const auto& change) {
    ModelOptions options = adapted(ModelKind::llama);
    change(options);
    EXPECT_THROW(make_model(device, options), Error);
  };
  refuses([](ModelOptions& options) { options.lora.targets = "nothing"; });
  refuses([](ModelOptions& options) { options.lora.targets = "w2 nothing"; });
  refuses([](ModelOptions& options) { options.lora.targets = "("; });
  refuses([](ModelOptions& options) { options.fused_swiglu = true; });
}

}  // namespace
}  // namespace howard::models
