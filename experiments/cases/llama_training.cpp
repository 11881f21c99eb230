// SPDX-License-Identifier: Apache-2.0
#include "experiments/cases/llama_training.h"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "base/error.h"
#include "engines/autograd/host_values.h"
#include "engines/autograd/optimizers/adamw.h"
#include "engines/autograd/optimizers/sgd.h"
#include "engines/autograd/steps/training_step.h"

namespace howard::experiments {
namespace {

constexpr std::uint32_t kLlamaSeed = 5489;

struct TrainedLlama {
  TrainedLlama(Device& device, const models::ModelOptions& options, LlamaOptimizer kind)
      : model(device, options) {
    const autograd::Calls calls(device);
    if (kind == LlamaOptimizer::sgd) {
      optimizer = std::make_unique<autograd::Sgd>(model.parameters(), 1e-3F);
    } else {
      optimizer = std::make_unique<autograd::AdamW>(calls, model.parameters(), AdamWAttributes{},
                                                    kind == LlamaOptimizer::moreh
                                                        ? autograd::AdamWForm::fused
                                                        : autograd::AdamWForm::composite);
    }
    if (device.holds_values()) write_values(device.command_queue(0));
  }

  void write_values(CommandQueue& queue) {
    models::write_random(queue, model.parameters(), kLlamaSeed);
    std::mt19937 random(kLlamaSeed);
    const auto vocabulary = static_cast<std::uint32_t>(model.options().vocabulary);
    std::vector<std::uint32_t> tokens(
        static_cast<std::size_t>(model.tokens().spec().shape.elements()));
    for (std::uint32_t& token : tokens) token = static_cast<std::uint32_t>(random()) % vocabulary;
    autograd::write_indices(queue, model.tokens(), tokens);
    std::ranges::rotate(tokens, tokens.begin() + 1);
    autograd::write_indices(queue, model.targets(), tokens);
  }

  models::Llama model;
  std::unique_ptr<autograd::Optimizer> optimizer;
};

}  // namespace

models::ModelOptions llama_sizes_of(std::string_view model) {
  if (model == "nanollama3")
    return {.kind = models::ModelKind::llama, .batch = 1, .vocabulary = 32000, .theta = 5e5F};
  models::ModelOptions options{.kind = models::ModelKind::llama,
                               .batch = 1,
                               .sequence = 2048,
                               .width = 2048,
                               .heads = 32,
                               .groups = 4,
                               .layers = 22,
                               .feed_forward = 5632,
                               .vocabulary = 32000,
                               .memory_efficient = true};
  if (model == "tinyllama") return options;
  options.groups = 8;
  options.theta = 5e5F;
  if (model == "llama3_2_1b") {
    options.layers = 16;
    options.feed_forward = 8192;
    options.scaling = {.factor = 32, .high = 4, .low = 1, .length = 8192};
    options.tied = true;
    return options;
  }
  if (model == "llama8b") {
    options.width = 4096;
    options.layers = 32;
    options.feed_forward = 14336;
    options.vocabulary = 128256;
    return options;
  }
  throw Error({.attempted = "make a llama",
               .value = "'" + std::string(model) + "'",
               .accepted = "nanollama3, tinyllama, llama3_2_1b, llama8b"});
}

Training train_llama(Device& device, const models::ModelOptions& options,
                     LlamaOptimizer optimizer) {
  auto trained = std::make_shared<TrainedLlama>(device, options, optimizer);
  models::Llama* const model = &trained->model;
  autograd::StepFunction step = autograd::training_step(
      [model](autograd::Tape& tape, int) { return model->loss(tape); }, *trained->optimizer,
      {.tape = {.calls = {.products = models::kTtmlProducts}, .compute = options.compute}});
  return {.step = std::move(step), .parameters = model->parameters(), .model = std::move(trained)};
}

}  // namespace howard::experiments
