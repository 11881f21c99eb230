// SPDX-License-Identifier: Apache-2.0
#include "engines/models/mlp.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "engines/autograd/host_values.h"
#include "engines/autograd/optimizers/sgd.h"
#include "engines/autograd/steps/published_step.h"
#include "engines/autograd/steps/static_step.h"
#include "engines/autograd/steps/traced_step.h"
#include "engines/autograd/steps/training_step.h"
#include "engines/chip/emulated_chip.h"
#include "engines/chip/profiles/profiles.h"
#include "tests/engines/autograd/gradient_check.h"
#include "tests/engines/models/program_list.h"

namespace howard::models {
namespace {

using autograd::Sgd;
using autograd::StaticStep;
using autograd::StepFunction;
using autograd::Tape;
using autograd::TapeOptions;
using reference::ReferenceDevice;

constexpr MlpOptions kTiny{.batch = 6, .width = 4};
constexpr float kRate = 0.05F;

StepFunction step_of(Mlp& model, MlpFunctions functions, autograd::Optimizer& optimizer) {
  return autograd::training_step(
      [&model, functions](Tape& tape, int) { return model.loss(tape, functions); }, optimizer,
      {.tape = {.compute = model.options().compute}});
}

/// Holds a model with random numbers on a reference device, and its optimizer.
struct Training {
  explicit Training(const MlpOptions& options = kTiny)
      : model(device, options), sgd(model.parameters(), kRate) {
    unsigned seed = 1;
    for (autograd::Parameter* parameter : model.parameters()) {
      reference::fill_random(device, parameter->value, seed++, 0.5);
    }
    reference::fill_random(device, model.input(), seed++);
    reference::fill_random(device, model.target(), seed);
  }

  double value(const ops::Tensor& loss) const { return device.values(loss)[0]; }
  std::vector<double> losses(autograd::Step& step, int steps) {
    std::vector<double> result;
    for (int i = 0; i < steps; ++i) {
      step.run();
      result.push_back(value(step.loss()));
    }
    return result;
  }
  std::vector<double> dynamic_losses(MlpFunctions functions, int steps) {
    const StepFunction step = step_of(model, functions, sgd);
    std::vector<double> result;
    for (int i = 0; i < steps; ++i) result.push_back(value(step(device)));
    return result;
  }

  ReferenceDevice device;
  Mlp model;
  Sgd sgd;
};

TEST(Mlp, GradientsAreThoseOfTheLossInAllCutsOfTheFunctions) {
  for (const MlpFunctions functions : {MlpFunctions::by_layer, MlpFunctions::by_op,
                                       MlpFunctions::by_fused_layer, MlpFunctions::in_python}) {
    Training training({.batch = 6, .width = 4, .layers = 3});
    std::vector<autograd::Parameter*> parameters = training.model.parameters();
    if (functions == MlpFunctions::in_python) {
      std::erase_if(parameters, [](const auto* each) { return each->name.ends_with("bias"); });
    }
    reference::expect_gradients(training.device, parameters,
                                [&](Tape& tape) { return training.model.loss(tape, functions); });
  }
}

// These are the calls of the report's engines in their order, read from its benchmark source.
TEST(Mlp, ByOpMakesTheCallsOfThePublishedDynamicEngine) {
  Training training({.batch = 64, .width = 32});
  training.device.clear();
  const int writes = training.device.host_writes();
  training.dynamic_losses(MlpFunctions::by_op, 1);
  const std::string linear = "transpose matmul.none add ";
  const std::string backward =
      "sum matmul.b matmul.a transpose gtz multiply sum matmul.a transpose ";
  const std::string sgd = "scale subtract scale subtract scale subtract scale subtract ";
  EXPECT_EQ(names_of(training.device.programs()),
            linear + "relu " + linear +
                "subtract multiply mean fill multiply multiply multiply add " + backward + sgd);
  EXPECT_EQ(training.device.programs().size(), 32U);
  EXPECT_EQ(training.device.host_writes() - writes, 1);
}

TEST(Mlp, InPythonMakesTheCallsOfThePublishedPythonEngine) {
  Training training({.batch = 64, .width = 32});
  Sgd sgd(training.model.parameters(), kRate, true);
  const StepFunction step = step_of(training.model, MlpFunctions::in_python, sgd);
  training.device.clear();
  const double first = training.value(step(training.device));
  EXPECT_EQ(names_of(training.device.programs()),
            "matmul.none relu matmul.none subtract multiply sum scale "
            "fill scale matmul.b matmul.a gtz multiply matmul.a "
            "fill multiply subtract fill multiply subtract ");
  EXPECT_EQ(training.device.programs().size(), 20U);
  for (int i = 0; i < 3; ++i) static_cast<void>(step(training.device));
  EXPECT_LT(training.value(step(training.device)), first);
}

TEST(Mlp, CallsFromPythonAreChargedToTheEmulatedHost) {
  const auto step_time = [](bool from_python) {
    chip::EmulatedChip device(chip::load_profiles());
    Mlp model(device, {.batch = 32, .width = 32});
    Sgd sgd(model.parameters(), kRate, true);
    const StepFunction step = autograd::training_step(
        [&](Tape& tape, int) { return model.loss(tape, MlpFunctions::in_python); }, sgd,
        {.tape = {.calls = {.from_python = from_python}}});
    const SimTime start = device.now();
    static_cast<void>(step(device));
    return device.now() - start;
  };
  EXPECT_EQ(step_time(true) - step_time(false),
            20 * chip::load_profiles().software.host_python_call);
}

TEST(Mlp, ByLayerMakesTheCallsOfThePublishedStaticEngine) {
  Training training({.batch = 64, .width = 32});
  training.device.clear();
  training.dynamic_losses(MlpFunctions::by_layer, 1);
  EXPECT_EQ(names_of(training.device.programs()),
            "matmul.b add gtz relu matmul.b add subtract multiply mean "
            "scale matmul.a sum matmul.none multiply matmul.a sum "
            "scale subtract scale subtract scale subtract scale subtract ");
  EXPECT_EQ(training.device.programs()[1].outputs[0].spec.shape.text(), "64x32");
  EXPECT_EQ(training.device.programs()[10].outputs[0].spec.shape.text(), "32x32");
  EXPECT_EQ(training.device.programs()[11].outputs[0].spec.shape.text(), "1x32");
}

// This is the report's bench_mlp: 12 calls a layer, and one launch more for the mean, which takes
// two.
TEST(Mlp, NLayersAreTwelveCallsEachAndOneLaunchMore) {
  for (const int layers : {1, 2, 4, 8}) {
    chip::EmulatedChip device(chip::load_profiles());
    Mlp model(device, {.batch = 1024, .width = 512, .layers = layers});
    Sgd sgd(model.parameters(), kRate);
    const StaticStep step(device, step_of(model, MlpFunctions::by_layer, sgd));
    EXPECT_EQ(step.programs().size(), static_cast<std::size_t>(12 * layers));
    EXPECT_EQ(launches_of(device, step.programs()), 12 * layers + 1);
  }
}

TEST(Mlp, ByOpIs33LaunchesAndByLayer25AndOneMoreForEachTransposedFactorBefore) {
  chip::EmulatedChip device(chip::load_profiles());
  chip::EmulatedChip older(older_profiles());
  Mlp model(device, {});
  Sgd sgd(model.parameters(), kRate);
  const StaticStep by_op(device, step_of(model, MlpFunctions::by_op, sgd));
  const StaticStep by_layer(device, step_of(model, MlpFunctions::by_layer, sgd));
  EXPECT_EQ(launches_of(device, by_op.programs()), 33);
  EXPECT_EQ(launches_of(device, by_layer.programs()), 25);
  EXPECT_EQ(launches_of(older, by_op.programs()), 36);
  EXPECT_EQ(launches_of(older, by_layer.programs()), 29);
}

TEST(Mlp, DynamicStaticAndTracedGiveTheSameLossesToTheBit) {
  constexpr int kSteps = 5;
  for (const MlpFunctions functions : {MlpFunctions::by_layer, MlpFunctions::by_op}) {
    const std::vector<double> dynamic = Training().dynamic_losses(functions, kSteps);
    Training training;
    StaticStep step(training.device, step_of(training.model, functions, training.sgd));
    EXPECT_EQ(training.losses(step, kSteps), dynamic);
    Training other;
    StaticStep captured(other.device, step_of(other.model, functions, other.sgd));
    autograd::TracedStep traced(other.device, captured);
    EXPECT_EQ(other.losses(traced, kSteps), dynamic);
    EXPECT_LT(dynamic.back(), 0.9 * dynamic.front());
  }
}

TEST(Mlp, TheTwoCutsOfTheFunctionsTrainAlike) {
  const std::vector<double> by_op = Training().dynamic_losses(MlpFunctions::by_op, 5);
  const std::vector<double> by_layer = Training().dynamic_losses(MlpFunctions::by_layer, 5);
  for (std::size_t i = 0; i < by_op.size(); ++i) EXPECT_NEAR(by_op[i], by_layer[i], 1e-9);
}

TEST(Mlp, ThePublishedStaticEngineTrainsAndItsReplayDoesNot) {
  constexpr int kSteps = 4;
  const std::vector<double> dynamic = Training().dynamic_losses(MlpFunctions::by_layer, kSteps);
  Training training;
  autograd::PublishedStep step(training.device,
                               step_of(training.model, MlpFunctions::by_layer, training.sgd),
                               training.model.parameters());
  EXPECT_EQ(training.losses(step, kSteps), dynamic);

  Training replayed;
  autograd::PublishedStep captured(replayed.device,
                                   step_of(replayed.model, MlpFunctions::by_layer, replayed.sgd),
                                   replayed.model.parameters());
  autograd::TracedStep traced(replayed.device, captured);
  EXPECT_EQ(replayed.losses(traced, kSteps), std::vector<double>(kSteps, dynamic.front()));
}

TEST(Mlp, NothingIsAliveAfterADynamicStep) {
  Training training;
  const std::size_t before = training.device.live_buffers();
  for (const MlpFunctions functions : {MlpFunctions::by_layer, MlpFunctions::by_op}) {
    training.dynamic_losses(functions, 2);
    EXPECT_EQ(training.device.live_buffers(), before);
  }
}

TEST(Mlp, StaticAndTracedStepsAllocateNothing) {
  Training training;
  StaticStep step(training.device, step_of(training.model, MlpFunctions::by_layer, training.sgd));
  autograd::TracedStep traced(training.device, step);
  const int before = training.device.allocations();
  training.losses(step, 3);
  training.losses(traced, 3);
  EXPECT_EQ(training.device.allocations(), before);
}

TEST(Mlp, PlanningSavesMemoryAndMoreOfItWithMoreLayers) {
  ReferenceDevice device;
  Mlp model(device, {.batch = 1024, .width = 512, .layers = 8});
  Sgd sgd(model.parameters(), kRate);
  const StaticStep step(device, step_of(model, MlpFunctions::by_layer, sgd));
  EXPECT_LT(step.plan().planned.value() * 2, step.plan().unshared.value());
  EXPECT_EQ(step.plan().saved(), step.plan().unshared - step.plan().planned);
}

TEST(Mlp, AccumulatedBatchesGiveTheGradientOfTheirMean) {
  // The same batch three times is the same as once.
  constexpr int kSteps = 3;
  const std::vector<double> once = Training().dynamic_losses(MlpFunctions::by_layer, kSteps);
  Training training;
  const StepFunction step = autograd::training_step(
      [&](Tape& tape, int) { return training.model.loss(tape, MlpFunctions::by_layer); },
      training.sgd, {.batches = 3});
  StaticStep recorded(training.device, step);
  const std::vector<double> accumulated = training.losses(recorded, kSteps);
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_NEAR(accumulated[i], once[i], 1e-6);
}

TEST(Mlp, ASizeThatMakesNoSenseIsAnError) {
  ReferenceDevice device;
  EXPECT_THROW(Mlp(device, {.layers = 0}), Error);
  EXPECT_THROW(Mlp(device, {.batch = 0}), Error);
}

TEST(Mlp, ReplayRefusesInputsOfAnotherShape) {
  Training training;
  StaticStep step(training.device, step_of(training.model, MlpFunctions::by_layer, training.sgd));
  const std::vector<float> larger(static_cast<std::size_t>(7 * kTiny.width));
  EXPECT_THROW(
      autograd::write_values(training.device.command_queue(0), training.model.input(), larger),
      Error);
}

}  // namespace
}  // namespace howard::models
