// SPDX-License-Identifier: Apache-2.0
//
// These tests train the models on the host and compare their gradients with float64, and the
// engines with each other.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "engines/autograd/host_values.h"
#include "engines/autograd/optimizers/adamw.h"
#include "engines/autograd/optimizers/sgd.h"
#include "engines/autograd/steps/published_step.h"
#include "engines/autograd/steps/static_step.h"
#include "engines/autograd/steps/traced_step.h"
#include "engines/autograd/steps/training_step.h"
#include "engines/chip/emulated_chip.h"
#include "engines/host/host_device.h"
#include "engines/models/gpt2.h"
#include "engines/models/mlp.h"
#include "engines/models/nano_gpt.h"
#include "tests/engines/autograd/gradient_check.h"

namespace howard::models {
namespace {

using autograd::Parameter;
using autograd::Sgd;
using autograd::StaticStep;
using autograd::StepFunction;
using autograd::Tape;
using autograd::Value;
using reference::ReferenceDevice;

std::vector<float> drawn(ReferenceDevice& scratch, const ops::Tensor& like, unsigned seed,
                         double scale) {
  const ops::Tensor tensor(scratch, like.spec());
  reference::fill_random(scratch, tensor, seed, scale);
  return {scratch.values(tensor).begin(), scratch.values(tensor).end()};
}

/// Draws the same random numbers on any device.
void draw(Device& device, std::span<const ops::Tensor> tensors, double scale) {
  ReferenceDevice scratch;
  unsigned seed = 1;
  for (const ops::Tensor& tensor : tensors) {
    autograd::write_values(device.command_queue(0), tensor, drawn(scratch, tensor, seed++, scale));
  }
}

template <class Model>
std::vector<ops::Tensor> parameter_tensors(Model& model) {
  std::vector<ops::Tensor> tensors;
  for (const Parameter* parameter : model.parameters()) tensors.push_back(parameter->value);
  return tensors;
}

void fill(Device& device, Mlp& model) {
  draw(device, parameter_tensors(model), 0.3);
  const ops::Tensor data[] = {model.input(), model.target()};
  draw(device, data, 1);
}

void fill(Device& device, Gpt2& model) {
  model.write_constants(device.command_queue(0));
  draw(device, parameter_tensors(model), 0.2);
  const ops::Tensor data[] = {model.target()};
  draw(device, data, 1);
}

void fill(Device& device, NanoGpt& model) {
  draw(device, parameter_tensors(model), 0.2);
  const ModelOptions& options = model.options();
  std::vector<std::uint32_t> tokens(static_cast<std::size_t>(options.batch * options.sequence));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = static_cast<std::uint32_t>(i * i % static_cast<std::size_t>(options.vocabulary));
  }
  autograd::write_indices(device.command_queue(0), model.tokens(), tokens);
  std::ranges::rotate(tokens, tokens.begin() + 1);
  autograd::write_indices(device.command_queue(0), model.targets(), tokens);
}

constexpr Gpt2Options kGpt2{.batch = 2,
                            .sequence = 16,
                            .width = 24,
                            .heads = 3,
                            .feed_forward = 40,
                            .vocabulary = 17,
                            .layers = 2,
                            .parameters = DataType::float32,
                            .compute = DataType::float32};
const ModelOptions kNanoGpt{.batch = 2,
                            .sequence = 16,
                            .width = 24,
                            .heads = 3,
                            .layers = 2,
                            .vocabulary = 17,
                            .dropout = 0,
                            .parameters = DataType::float32,
                            .compute = DataType::float32};

/// Returns the gradients of all parameters, one behind the other, and where each ends.
template <class Model, class Options>
std::vector<std::vector<float>> gradients(Device& device, const Options& options,
                                          const std::function<Value(Model&, Tape&)>& loss) {
  Model model(device, options);
  fill(device, model);
  Tape tape(device, {.compute = DataType::float32});
  tape.backward(loss(model, tape));
  std::vector<std::vector<float>> result;
  for (const Parameter* parameter : model.parameters()) {
    result.push_back(autograd::read_values(device.command_queue(0), *parameter->gradient));
  }
  return result;
}

template <class Model, class Options>
void expect_host_gradients(const Options& options,
                           const std::function<Value(Model&, Tape&)>& loss) {
  ReferenceDevice reference;
  host::HostDevice host;
  const auto expected = gradients<Model, Options>(reference, options, loss);
  const auto actual = gradients<Model, Options>(host, options, loss);
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto by_size = [](float a, float b) { return std::abs(a) < std::abs(b); };
    const float largest = std::abs(*std::ranges::max_element(expected[i], by_size));
    for (std::size_t j = 0; j < expected[i].size(); ++j) {
      ASSERT_NEAR(actual[i][j], expected[i][j], 2e-5F * largest + 1e-9F)
          << "parameter " << i << " element " << j;
    }
  }
}

TEST(HostTraining, MlpGradientsAreThoseOfFloat64) {
  const MlpOptions options{.batch = 48,
                           .width = 40,
                           .layers = 3,
                           .parameters = DataType::float32,
                           .compute = DataType::float32};
  for (const MlpFunctions functions : {MlpFunctions::by_layer, MlpFunctions::by_op}) {
    expect_host_gradients<Mlp, MlpOptions>(
        options, [functions](Mlp& model, Tape& tape) { return model.loss(tape, functions); });
  }
}

TEST(HostTraining, Gpt2GradientsAreThoseOfFloat64) {
  expect_host_gradients<Gpt2, Gpt2Options>(
      kGpt2, [](Gpt2& model, Tape& tape) { return model.loss(tape); });
}

TEST(HostTraining, NanoGptGradientsAreThoseOfFloat64) {
  expect_host_gradients<NanoGpt, ModelOptions>(
      kNanoGpt, [](NanoGpt& model, Tape& tape) { return model.loss(tape); });
}

enum class Engine {
  dynamic,
  static_step,
  traced,
  traced_fused,
  published,
  published_traced,
  published_traced_fused
};

/// Returns the losses of `steps` steps; the model's numbers are the same for each engine.
template <class Model, class Options>
std::vector<float> losses(Engine engine, const Options& options, float rate, int steps,
                          const std::function<Value(Model&, Tape&)>& loss) {
  const bool fuses = engine == Engine::traced_fused || engine == Engine::published_traced_fused;
  host::HostDevice device({.fuse_traces = fuses});
  Model model(device, options);
  fill(device, model);
  Sgd sgd(model.parameters(), rate);
  const StepFunction function =
      autograd::training_step([&](Tape& tape, int) { return loss(model, tape); }, sgd,
                              {.tape = {.compute = options.compute}});
  if constexpr (std::is_same_v<Model, Gpt2>) {
    // The weights of the released one grow in their first step.
    if (options.as_published) static_cast<void>(function(device));
  }
  std::unique_ptr<autograd::Step> step;
  if (engine == Engine::static_step || engine == Engine::traced || engine == Engine::traced_fused) {
    step = std::make_unique<StaticStep>(device, function);
  } else if (engine != Engine::dynamic) {
    step = std::make_unique<autograd::PublishedStep>(device, function, model.parameters());
  }
  std::unique_ptr<autograd::TracedStep> traced;
  if (engine != Engine::dynamic && engine != Engine::static_step && engine != Engine::published) {
    traced = std::make_unique<autograd::TracedStep>(device, *step);
  }
  std::vector<float> result;
  for (int i = 0; i < steps; ++i) {
    if (engine != Engine::dynamic) (traced ? *traced : *step).run();
    const ops::Tensor value = engine == Engine::dynamic ? function(device) : step->loss();
    result.push_back(autograd::read_values(device.command_queue(0), value)[0]);
  }
  return result;
}

std::vector<float> mlp_losses(Engine engine, DataType dtype, MlpFunctions functions) {
  const MlpOptions options{.batch = 64, .width = 96, .parameters = dtype, .compute = dtype};
  return losses<Mlp, MlpOptions>(engine, options, 0.5F, 6, [functions](Mlp& model, Tape& tape) {
    return model.loss(tape, functions);
  });
}

TEST(HostTraining, EnginesGiveTheSameLossesToTheBit) {
  for (const DataType dtype : {DataType::float32, DataType::bfloat16}) {
    for (const MlpFunctions functions : {MlpFunctions::by_layer, MlpFunctions::by_op}) {
      const std::vector<float> dynamic = mlp_losses(Engine::dynamic, dtype, functions);
      EXPECT_EQ(mlp_losses(Engine::static_step, dtype, functions), dynamic);
      EXPECT_EQ(mlp_losses(Engine::traced, dtype, functions), dynamic);
      EXPECT_LT(dynamic.back(), 0.95F * dynamic.front());
    }
  }
}

// By op and by layer, the products of the gradients transpose other factors, so that on some CPUs
// other kernels of oneDNN sum them in another order.
TEST(HostTraining, ThePublishedDynamicAndStaticFunctionsGiveTheSameLossesButForTheOrderOfSums) {
  const std::vector<float> by_op =
      mlp_losses(Engine::dynamic, DataType::float32, MlpFunctions::by_op);
  const std::vector<float> by_layer =
      mlp_losses(Engine::traced, DataType::float32, MlpFunctions::by_layer);
  ASSERT_EQ(by_op.size(), by_layer.size());
  for (std::size_t i = 0; i < by_op.size(); ++i) {
    EXPECT_NEAR(by_op[i], by_layer[i], 1e-5F * by_layer[i]) << "step " << i;
  }
}

TEST(HostTraining, ReplaysOfThePublishedEngineDoNotTrainAndOursDo) {
  const auto of = [](Engine engine) {
    return mlp_losses(engine, DataType::float32, MlpFunctions::by_layer);
  };
  const std::vector<float> ours = of(Engine::traced);
  EXPECT_EQ(of(Engine::published), ours);
  const std::vector<float> constant(ours.size(), ours.front());
  EXPECT_EQ(of(Engine::published_traced), constant);
  EXPECT_EQ(of(Engine::published_traced_fused), constant);
}

TEST(HostTraining, Gpt2EnginesGiveTheSameLossesToTheBit) {
  const auto of = [](Engine engine) {
    return losses<Gpt2, Gpt2Options>(engine, kGpt2, 0.1F, 4,
                                     [](Gpt2& model, Tape& tape) { return model.loss(tape); });
  };
  const std::vector<float> dynamic = of(Engine::dynamic);
  EXPECT_EQ(of(Engine::static_step), dynamic);
  EXPECT_EQ(of(Engine::traced), dynamic);
  EXPECT_LT(dynamic.back(), dynamic.front());
}

// Its layers write their probabilities to one tensor, whose handle each of them replaces. What the
// layer before has written is released during the capture.
TEST(HostTraining, ThePublishedGpt2GivesTheSameLossesToTheBitAndItsReplaysDoNotTrain) {
  Gpt2Options options = kGpt2;
  options.as_published = true;
  const auto of = [&](Engine engine) {
    return losses<Gpt2, Gpt2Options>(engine, options, 1e-3F, 4,
                                     [](Gpt2& model, Tape& tape) { return model.loss(tape); });
  };
  const std::vector<float> dynamic = of(Engine::dynamic);
  EXPECT_EQ(of(Engine::published), dynamic);
  EXPECT_NE(dynamic.back(), dynamic.front());
  EXPECT_TRUE(std::ranges::all_of(dynamic, [](float loss) { return std::isfinite(loss); }));
  const std::vector<float> constant(dynamic.size(), dynamic.front());
  EXPECT_EQ(of(Engine::published_traced), constant);
  EXPECT_EQ(of(Engine::published_traced_fused), constant);
}

TEST(HostTraining, FusedTracesGiveTheLossesOfTwentyStepsToTheBit) {
  constexpr int kSteps = 20;
  for (const DataType parameters : {DataType::float32, DataType::bfloat16}) {
    for (const MlpFunctions functions :
         {MlpFunctions::by_layer, MlpFunctions::by_op, MlpFunctions::in_python}) {
      const auto of = [&](Engine engine) {
        return losses<Mlp, MlpOptions>(
            engine, {.batch = 64, .width = 96, .layers = 3, .parameters = parameters}, 0.5F, kSteps,
            [functions](Mlp& model, Tape& tape) { return model.loss(tape, functions); });
      };
      const std::vector<float> apart = of(Engine::traced);
      EXPECT_EQ(of(Engine::traced_fused), apart);
      EXPECT_LT(apart.back(), 0.95F * apart.front());
    }
  }
  for (const DataType compute : {DataType::float32, DataType::bfloat16}) {
    const auto of = [&](Engine engine) {
      Gpt2Options options = kGpt2;
      options.compute = compute;
      return losses<Gpt2, Gpt2Options>(engine, options, 0.1F, kSteps,
                                       [](Gpt2& model, Tape& tape) { return model.loss(tape); });
    };
    const std::vector<float> apart = of(Engine::traced);
    EXPECT_EQ(of(Engine::traced_fused), apart);
    EXPECT_LT(apart.back(), apart.front());

    const auto nano_gpt = [&](Engine engine) {
      ModelOptions options = kNanoGpt;
      options.compute = compute;
      return losses<NanoGpt, ModelOptions>(
          engine, options, 0.5F, kSteps,
          [](NanoGpt& model, Tape& tape) { return model.loss(tape); });
    };
    const std::vector<float> other = nano_gpt(Engine::traced);
    EXPECT_EQ(nano_gpt(Engine::traced_fused), other);
    EXPECT_LT(other.back(), other.front());
  }
}

TEST(HostTraining, TheEmulatedDeviceWithValuesGivesTheSameLosses) {
  host::HostDevice values;
  chip::EmulatedChip device(chip::load_profiles(), {.values = &values});
  const MlpOptions options{
      .batch = 64, .width = 96, .parameters = DataType::float32, .compute = DataType::float32};
  Mlp model(device, options);
  fill(device, model);
  Sgd sgd(model.parameters(), 0.5F);
  StaticStep step(
      device, autograd::training_step(
                  [&](Tape& tape, int) { return model.loss(tape, MlpFunctions::by_layer); }, sgd,
                  {.tape = {.compute = DataType::float32}}));
  autograd::TracedStep traced(device, step);
  for (const float expected :
       mlp_losses(Engine::dynamic, DataType::float32, MlpFunctions::by_layer)) {
    traced.run();
    EXPECT_EQ(autograd::read_values(device.command_queue(0), step.loss())[0], expected);
  }
}

TEST(HostTraining, NanoGptLearnsASequenceByHeart) {
  host::HostDevice device;
  NanoGpt model(device, kNanoGpt);
  fill(device, model);
  write_random(device.command_queue(0), model.parameters(), 1);
  autograd::AdamW adamw(autograd::Calls(device), model.parameters(), {.learning_rate = 0.01F},
                        autograd::AdamWForm::fused);
  StaticStep step(device,
                  autograd::training_step([&](Tape& tape, int) { return model.loss(tape); }, adamw,
                                          {.tape = {.compute = DataType::float32}}),
                  autograd::Scalars::change_each_step);
  step.run();
  const auto loss = [&] { return autograd::read_values(device.command_queue(0), step.loss())[0]; };
  EXPECT_NEAR(loss(), std::log(17.0F), 0.05F) << "nothing is known of 17 tokens at first";
  for (int i = 0; i < 150; ++i) step.run();
  EXPECT_LT(loss(), 0.1F);
}

TEST(HostTraining, Bfloat16ProductsWithFloat32ParametersTrainLikeFloat32) {
  constexpr int kSteps = 100;
  const auto decrease = [](DataType parameters, DataType compute) {
    MlpOptions options{.batch = 64, .width = 64};
    options.parameters = parameters;
    options.compute = compute;
    const std::vector<float> all = losses<Mlp, MlpOptions>(
        Engine::traced, options, 0.05F, kSteps,
        [](Mlp& model, Tape& tape) { return model.loss(tape, MlpFunctions::by_layer); });
    return all.front() - all.back();
  };
  const float full = decrease(DataType::float32, DataType::float32);
  EXPECT_GT(full, 0.02F);
  EXPECT_NEAR(decrease(DataType::float32, DataType::bfloat16), full, 0.02F * full);
}

}  // namespace
}  // namespace howard::models
