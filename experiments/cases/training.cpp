// SPDX-License-Identifier: Apache-2.0
#include "experiments/cases/training.h"

#include <algorithm>
#include <random>
#include <string_view>
#include <utility>

#include "engines/autograd/host_values.h"
#include "engines/autograd/optimizers/sgd.h"
#include "engines/autograd/steps/training_step.h"
#include "engines/models/language_model.h"
#include "engines/models/layers.h"
#include "engines/training/optimizers.h"

namespace howard::experiments {
namespace {

using autograd::Tape;

constexpr float kLearningRate = 0.01F;
constexpr std::uint32_t kSeed = 42;

Device& in_phase(Device& device, std::string_view phase) {
  device.begin_phase(phase);
  return device;
}

/// Holds a model and what trains it.
template <class Model, class Optimizer>
struct Trained {
  template <class Options, class MakeOptimizer>
  Trained(Device& device, const Options& options, const MakeOptimizer& make)
      : model(in_phase(device, "model"), options),
        optimizer(make(in_phase(device, "optimizer"), model.parameters())) {}

  Model model;
  Optimizer optimizer;
};

template <class Model>
using WithSgd = Trained<Model, autograd::Sgd>;

autograd::Sgd make_sgd(Device&, std::vector<autograd::Parameter*> parameters) {
  return {std::move(parameters), kLearningRate};
}

/// `loss` is called with the model and a tape.
template <class Trained, class Loss>
Training training_of(std::shared_ptr<Trained> trained, const autograd::TapeOptions& options,
                     const Loss& loss) {
  auto* const model = &trained->model;
  autograd::StepFunction step =
      autograd::training_step([model, loss](Tape& tape, int) { return loss(*model, tape); },
                              trained->optimizer, {.tape = options});
  return {.step = std::move(step), .parameters = model->parameters(), .model = std::move(trained)};
}

/// Writes random tokens, with the next one of each as its target: a text to learn by heart.
void write_text(CommandQueue& queue, const models::LanguageModel& model, std::int64_t vocabulary) {
  std::mt19937 random(kSeed);
  std::vector<std::uint32_t> tokens(
      static_cast<std::size_t>(model.tokens().spec().shape.elements()));
  for (std::uint32_t& token : tokens) {
    token = static_cast<std::uint32_t>(random() % static_cast<std::uint32_t>(vocabulary));
  }
  autograd::write_indices(queue, model.tokens(), tokens);
  std::ranges::rotate(tokens, tokens.begin() + 1);
  autograd::write_indices(queue, model.targets(), tokens);
}

}  // namespace

Training train_mlp(Device& device, const models::MlpOptions& options,
                   models::MlpFunctions functions, const MatmulAttributes& products) {
  auto trained = std::make_shared<WithSgd<models::Mlp>>(device, options, make_sgd);
  if (device.holds_values()) trained->model.write_constants(device.command_queue(0));
  return training_of(
      std::move(trained), {.calls = {.products = products}, .compute = options.compute},
      [functions](models::Mlp& model, Tape& tape) { return model.loss(tape, functions); });
}

Training train_python_mlp(Device& device, std::int64_t batch, std::int64_t width) {
  const auto make = [](Device&, std::vector<autograd::Parameter*> parameters) {
    return autograd::Sgd(std::move(parameters), kLearningRate, /*fills_rate=*/true);
  };
  const models::MlpOptions options{.batch = batch, .width = width};
  auto trained = std::make_shared<WithSgd<models::Mlp>>(device, options, make);
  if (device.holds_values()) {
    trained->model.write_constants(device.command_queue(0), {.input = 1});
  }
  return training_of(std::move(trained), {.calls = {.from_python = true}},
                     [](models::Mlp& model, Tape& tape) {
                       return model.loss(tape, models::MlpFunctions::in_python);
                     });
}

Training train_gpt2(Device& device, const models::Gpt2Options& options,
                    const MatmulAttributes& products) {
  auto trained = std::make_shared<WithSgd<models::Gpt2>>(device, options, make_sgd);
  if (device.holds_values()) {
    CommandQueue& queue = device.command_queue(0);
    trained->model.write_constants(queue);
    if (!options.as_published) {
      // With the report's equal weights and its rate, summed gradients diverge. From random weights
      // there is next to nothing to learn for targets of 0.
      models::write_random(queue, trained->model.parameters(), kSeed);
      autograd::write_constant(queue, trained->model.target(), 1);
    }
  }
  return training_of(std::move(trained),
                     {.calls = {.products = products}, .compute = options.compute},
                     [](models::Gpt2& model, Tape& tape) { return model.loss(tape); });
}

Training train_ttml(Device& device, const training::Recipe& recipe) {
  struct Trained {
    std::unique_ptr<models::LanguageModel> model;
    std::unique_ptr<autograd::Optimizer> optimizer;
  };
  const auto trained = std::make_shared<Trained>();
  trained->model = models::make_model(in_phase(device, "model"), recipe.model);
  const auto parameters = trained->model->parameters();
  trained->optimizer = training::make_optimizer(
      recipe, autograd::Calls(in_phase(device, "optimizer")), parameters, false);
  if (device.holds_values()) {
    models::write_random(device.command_queue(0), parameters, kSeed);
    write_text(device.command_queue(0), *trained->model, recipe.model.vocabulary);
  }
  auto* const model = trained->model.get();
  autograd::StepFunction step = autograd::training_step(
      [model](Tape& tape, int) { return model->loss(tape, model->tokens(), model->targets()); },
      *trained->optimizer,
      {.tape = {.calls = {.products = models::kTtmlProducts}, .compute = recipe.model.compute}});
  return {.step = std::move(step), .parameters = parameters, .model = trained};
}

}  // namespace howard::experiments
