// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "engines/autograd/functions/elementwise/activation.h"
#include "engines/autograd/functions/elementwise/arithmetic.h"
#include "engines/autograd/optimizers/adamw.h"
#include "engines/autograd/optimizers/averaged_gradients.h"
#include "engines/autograd/optimizers/gradient_norm.h"
#include "engines/autograd/optimizers/muon.h"
#include "engines/autograd/optimizers/sgd.h"
#include "engines/autograd/steps/training_step.h"
#include "tests/engines/autograd/gradient_check.h"

namespace howard::autograd {
namespace {

using reference::ReferenceDevice;

Parameter filled(ReferenceDevice& device, const Shape& shape, unsigned seed) {
  Parameter parameter{"", {device, {.shape = shape, .dtype = DataType::float32}}, {}};
  reference::fill_random(device, parameter.value, seed);
  return parameter;
}

void set_gradient(ReferenceDevice& device, Parameter& parameter, double value) {
  parameter.gradient.emplace(device, parameter.value.spec());
  for (double& each : device.values(*parameter.gradient)) each = value;
}

TEST(Sgd, SubtractsTheRateTimesTheGradientInPlaceAndTakesTheGradientAway) {
  ReferenceDevice device;
  Parameter p = filled(device, {2, 3}, 1);
  Parameter without = filled(device, {2, 3}, 2);
  const double before = device.values(p.value)[4];
  const BufferId buffer = p.value.buffer();
  set_gradient(device, p, 3);
  Sgd sgd({&p, &without}, 0.5F);
  sgd.step(Calls(device));
  EXPECT_DOUBLE_EQ(device.values(p.value)[4], before - 1.5);
  EXPECT_EQ(p.value.buffer(), buffer);
  EXPECT_FALSE(p.gradient);
  EXPECT_EQ(device.programs().size(), 2U);
}

TEST(Sgd, AGradientWithABatchMakesTheParameterOneForEachOfIt) {
  ReferenceDevice device;
  Parameter p = filled(device, {2, 3}, 1);
  const double before = device.values(p.value)[5];
  p.gradient.emplace(device, TensorSpec{.shape = {4, 2, 3}, .dtype = DataType::float32});
  for (double& each : device.values(*p.gradient)) each = 1;
  Sgd({&p}, 1).step(Calls(device));
  EXPECT_EQ(p.value.spec().shape.text(), "4x2x3");
  EXPECT_DOUBLE_EQ(device.values(p.value)[3 * 6 + 5], before - 1);
}

// The first step has no dampening, as in TTML and in PyTorch.
TEST(Sgd, BothFormsFollowTheDefinition) {
  for (const bool nesterov : {false, true}) {
    const SgdAttributes attributes{.learning_rate = 0.5F,
                                   .momentum = 0.75F,
                                   .dampening = 0.25F,
                                   .weight_decay = 0.125F,
                                   .nesterov = nesterov};
    for (const SgdForm form : {SgdForm::composite, SgdForm::fused}) {
      ReferenceDevice device;
      Parameter p = filled(device, {2, 3}, 1);
      double expected = device.values(p.value)[4], buffer = 0;
      Sgd sgd(Calls(device), {&p}, attributes, form);
      for (const double gradient : {0.5, -2.0, 1.0}) {
        const bool first = buffer == 0;
        set_gradient(device, p, gradient);
        device.clear();
        sgd.step(Calls(device));
        const double slope = gradient + 0.125 * expected;
        buffer = first ? slope : 0.75 * buffer + 0.75 * slope;
        expected -= 0.5 * (nesterov ? slope + 0.75 * buffer : buffer);
        EXPECT_NEAR(device.values(p.value)[4], expected, 1e-12);
        EXPECT_NEAR(device.values(sgd.kept(0)[0].tensor)[4], buffer, 1e-12);
        EXPECT_FALSE(p.gradient);
        const std::size_t calls = nesterov ? 9 : 7;
        EXPECT_EQ(device.programs().size(), form == SgdForm::fused ? 1U : calls);
      }
    }
  }
}

/// Keeps the rate that its step is made with.
struct RateOfStep final : Optimizer {
  float taken = 0;
  void step(const Calls&) override { taken = learning_rate; }
};

// The change of two rows is that of the momentum's polar factor, of either shape: after five
// iterations its singular values lie in 0.68 to 1.13, so it is orthogonal within that.
TEST(Muon, TheChangeIsTheMomentumMadeNearlyOrthogonal) {
  for (const bool tall : {false, true}) {
    ReferenceDevice device;
    Parameter p = filled(device, tall ? Shape{3, 2} : Shape{2, 3}, 1);
    const std::vector<double> before = device.values(p.value);
    p.gradient.emplace(device, p.value.spec());
    // Rows at right angles, of lengths 1 and 0.1.
    device.values(*p.gradient) = tall ? std::vector<double>{0.6, 0, 0.8, 0, 0, 0.1}
                                      : std::vector<double>{0.6, 0.8, 0, 0, 0, 0.1};
    const std::size_t made = device.programs().size();
    Muon muon(Calls(device), {&p}, 0.5F, {});
    muon.step(Calls(device));
    EXPECT_FALSE(p.gradient);
    // One fill, the momentum's two, five of the norm, eight an iteration, and the change's two.
    EXPECT_EQ(device.programs().size() - made, 1U + 2 + 5 + 5 * 8 + 2 + (tall ? 2 : 0));
    std::vector<double> change;
    for (std::size_t i = 0; i < before.size(); ++i) {
      change.push_back((before[i] - device.values(p.value)[i]) / 0.5);
    }
    if (tall) change = {change[0], change[2], change[4], change[1], change[3], change[5]};
    const double first = std::hypot(change[0], change[1]);
    EXPECT_GT(first, 0.68);
    EXPECT_LT(first, 1.14);
    EXPECT_NEAR(change[0] / first, 0.6, 1e-6);
    EXPECT_NEAR(change[2], 0, 1e-6);
    EXPECT_GT(change[5], 0.68);
    EXPECT_LT(change[5], 1.14);
    EXPECT_EQ(muon.kept(0).at(0).what, "momentum");
  }
}

TEST(AveragedGradients, AScheduleReachesTheOptimizerBehind) {
  ReferenceDevice device;
  RateOfStep behind;
  const DeviceGroup alone(device, 0, 1, 0);
  AveragedGradients averaged(behind, {}, alone);
  averaged.set_numbers({.step = 1, .learning_rate = 0.25F, .beta1 = 0.9F});
  averaged.step(Calls(device));
  EXPECT_EQ(behind.taken, 0.25F);
}

/// Follows the definition, step by step, in float64.
struct AdamWByHand {
  double p, m = 0, v = 0, largest = 0;

  void step(double g, const AdamWAttributes& a) {
    const double rate = double{a.learning_rate};
    const auto t = static_cast<double>(a.step);
    p -= double{a.weight_decay} * rate * p;
    m = double{a.beta1} * m + (1 - double{a.beta1}) * g;
    v = double{a.beta2} * v + (1 - double{a.beta2}) * g * g;
    const double mh = m / (1 - std::pow(double{a.beta1}, t));
    double vh = v / (1 - std::pow(double{a.beta2}, t));
    if (a.amsgrad) vh = largest = std::max(vh, largest);
    p -= rate * mh / (std::sqrt(vh) + double{a.epsilon});
  }
};

TEST(AdamW, InOneCallAndInSeventeenItIsTheDefinition) {
  for (const bool fused : {true, false}) {
    ReferenceDevice device;
    Parameter p = filled(device, {2, 3}, 1);
    AdamWAttributes attributes{.learning_rate = 0.1F, .weight_decay = 0.2F};
    AdamWByHand expected{device.values(p.value)[4]};
    AdamW adamw(Calls(device), {&p}, attributes, fused ? AdamWForm::fused : AdamWForm::composite);
    for (const double gradient : {0.5, -2.0, 1.0}) {
      set_gradient(device, p, gradient);
      device.clear();
      adamw.step(Calls(device));
      EXPECT_EQ(device.programs().size(), fused ? 1U : 17U);
      std::string operands;  // "1" also takes a scalar
      for (const Program& program : device.programs()) {
        operands += std::to_string(program.inputs.size());
      }
      EXPECT_EQ(operands, fused ? "4" : "12112111211111122");
      expected.step(gradient, attributes);
      ++attributes.step;
      // Scalars are float32, so 1 - beta2, for example, has 5 digits.
      EXPECT_NEAR(device.values(p.value)[4], expected.p, 1e-4);
    }
  }
}

// The second gradient is so small that the root would shrink without amsgrad.
TEST(AdamW, AmsgradDividesByTheLargestRootInEachForm) {
  for (const AdamWForm form : {AdamWForm::composite, AdamWForm::replayable, AdamWForm::fused}) {
    ReferenceDevice device;
    Parameter p = filled(device, {2, 3}, 1);
    AdamWAttributes attributes{.learning_rate = 0.1F, .amsgrad = true};
    AdamWByHand expected{device.values(p.value)[4]};
    AdamW adamw(Calls(device), {&p}, attributes, form);
    for (const double gradient : {2.0, 0.01, -0.02}) {
      set_gradient(device, p, gradient);
      if (form == AdamWForm::replayable) adamw.write_numbers(device.command_queue(0));
      device.clear();
      adamw.step(Calls(device));
      EXPECT_EQ(device.programs().size(), form == AdamWForm::fused ? 1U : 18U);
      expected.step(gradient, attributes);
      ++attributes.step;
      EXPECT_NEAR(device.values(p.value)[4], expected.p, 1e-4);
    }
    AdamWAttributes plain = attributes;
    plain.amsgrad = false;
    AdamWByHand without = expected;
    expected.step(0.01, attributes);
    without.step(0.01, plain);
    EXPECT_GT(std::abs(expected.p - without.p), 1e-3) << "what the test could not see otherwise";
  }
}

TEST(AdamW, ABeta1ThatChangesIsThatOfTheNextStep) {
  ReferenceDevice device;
  Parameter p = filled(device, {2, 3}, 1);
  AdamWAttributes attributes{.learning_rate = 0.1F};
  AdamWByHand expected{device.values(p.value)[0]};
  AdamW adamw(Calls(device), {&p}, attributes);
  for (const float beta1 : {0.5F, 0.9F}) {
    attributes.beta1 = beta1;
    adamw.set_numbers({attributes.step, attributes.learning_rate, beta1});
    set_gradient(device, p, beta1 < 0.6F ? 1 : -3);
    adamw.step(Calls(device));
    expected.step(beta1 < 0.6F ? 1 : -3, attributes);
    ++attributes.step;
    EXPECT_NEAR(device.values(p.value)[0], expected.p, 1e-4);
  }
}

TEST(AdamW, RoundingByChanceDrawsAnewForEachParameterAndStep) {
  ReferenceDevice device;
  Parameter a{"", {device, {.shape = {2, 3}, .dtype = DataType::bfloat16}}, {}};
  Parameter b{"", {device, {.shape = {2, 3}, .dtype = DataType::bfloat16}}, {}};
  AdamWAttributes attributes{};
  attributes.rounding_seed = 7;
  AdamW adamw(Calls(device), {&a, &b}, attributes, AdamWForm::fused);
  std::set<std::uint32_t> seeds;
  device.clear();
  for (int step = 0; step < 3; ++step) {
    set_gradient(device, a, 1);
    set_gradient(device, b, 1);
    adamw.step(Calls(device));
  }
  for (const Program& program : device.programs()) {
    seeds.insert(std::get<AdamWAttributes>(program.attributes).rounding_seed.value());
  }
  EXPECT_EQ(seeds.size(), 6U);
  Parameter wide = filled(device, {2, 3}, 1);
  EXPECT_THROW(AdamW(Calls(device), {&wide}, attributes, AdamWForm::fused), Error);
  EXPECT_THROW(AdamW(Calls(device), {&a}, attributes, AdamWForm::composite), Error);
}

TEST(AdamW, TheReplayableFormReadsTheNumbersOfEachStepFromTheDevice) {
  ReferenceDevice device;
  Parameter p = filled(device, {2, 3}, 1);
  AdamWAttributes attributes{.learning_rate = 0.1F, .weight_decay = 0.2F};
  AdamWByHand expected{device.values(p.value)[4]};
  AdamW adamw(Calls(device), {&p}, attributes, AdamWForm::replayable);
  std::vector<Program> first;
  for (const double gradient : {0.5, -2.0, 1.0}) {
    set_gradient(device, p, gradient);
    adamw.learning_rate = attributes.learning_rate;
    adamw.write_numbers(device.command_queue(0));
    device.clear();
    adamw.step(Calls(device));
    expected.step(gradient, attributes);
    ++attributes.step;
    attributes.learning_rate /= 2;
    EXPECT_NEAR(device.values(p.value)[4], expected.p, 1e-4);
    if (first.empty()) first = device.programs();
    EXPECT_TRUE(std::ranges::equal(first, device.programs(), {}, &Program::attributes,
                                   &Program::attributes))
        << "what a trace would repeat";
  }
  Parameter narrow{"", {device, {.shape = {2, 3}, .dtype = DataType::bfloat16}}, {}};
  EXPECT_THROW(AdamW(Calls(device), {&narrow}, attributes, AdamWForm::replayable), Error);
}

TEST(AdamW, TheRateThatAScheduleSetsIsTakenByTheNextStep) {
  ReferenceDevice device;
  Parameter p = filled(device, {2, 3}, 1);
  AdamW adamw(Calls(device), {&p}, {.weight_decay = 0}, AdamWForm::fused);
  const double before = device.values(p.value)[0];
  adamw.learning_rate = 0;
  set_gradient(device, p, 1);
  adamw.step(Calls(device));
  EXPECT_EQ(device.values(p.value)[0], before);
}

TEST(GradientNorm, ScalesAllGradientsWhenItIsTooLarge) {
  ReferenceDevice device;
  Parameter a = filled(device, {2, 2}, 1);
  Parameter b = filled(device, {1, 5}, 2);
  Parameter without = filled(device, {1, 5}, 3);
  Parameter* all[] = {&a, &b, &without};
  set_gradient(device, a, 2);
  set_gradient(device, b, -4);
  const float norm = std::sqrt(4 * 4.0F + 5 * 16.0F);
  EXPECT_FLOAT_EQ(clip_gradient_norm(Calls(device), all, 100), norm);
  EXPECT_DOUBLE_EQ(device.values(*b.gradient)[3], -4);
  EXPECT_FLOAT_EQ(clip_gradient_norm(Calls(device), all, 1), norm);
  EXPECT_NEAR(device.values(*b.gradient)[3], -4.0 / double{norm}, 1e-6);
  EXPECT_NEAR(device.values(*a.gradient)[0], 2.0 / double{norm}, 1e-6);
}

TEST(GradientNorm, OnTheDeviceItScalesByTheSameFactor) {
  for (const float most : {1.0F, 100.0F}) {
    ReferenceDevice device;
    Parameter a = filled(device, {2, 2}, 1);
    Parameter b = filled(device, {1, 5}, 2);
    Parameter* all[] = {&a, &b};
    set_gradient(device, a, 2);
    set_gradient(device, b, -4);
    clip_gradients_on_device(Calls(device), all, most);
    const double factor = std::min(double{most} / std::sqrt(4 * 4 + 5 * 16), 1.0);
    EXPECT_NEAR(device.values(*a.gradient)[0], 2 * factor, 1e-6) << most;
    EXPECT_NEAR(device.values(*b.gradient)[3], -4 * factor, 1e-6) << most;
  }
}

TEST(GradientNorm, ANormThatIsNotFiniteIsAnError) {
  ReferenceDevice device;
  Parameter a = filled(device, {2, 2}, 1);
  Parameter* all[] = {&a};
  set_gradient(device, a, std::numeric_limits<double>::infinity());
  EXPECT_THROW(clip_gradient_norm(Calls(device), all, 1), Error);
}

TEST(TrainingStep, EachBatchAndEachStepDropsOtherElements) {
  ReferenceDevice device;
  Parameter p = filled(device, {2, 3}, 1);
  Sgd sgd({&p}, 1);
  const StepFunction step = training_step(
      [&](Tape& tape, int) { return mean(tape, dropout(tape, tape.parameter(p), 0.5F)); }, sgd,
      {.tape = {.compute = DataType::float32}, .batches = 2});
  for (int i = 0; i < 2; ++i) static_cast<void>(step(device));
  std::map<std::uint32_t, int> uses;
  for (const Program& program : device.programs()) {
    const auto* attributes = std::get_if<DropoutAttributes>(&program.attributes);
    if (attributes != nullptr) ++uses[attributes->seed];
  }
  EXPECT_EQ(uses.size(), 4U);
  for (const auto& [seed, times] : uses) EXPECT_EQ(times, 2) << "forward and backward";
}

TEST(TrainingStep, NoBatchesAreAnError) {
  Sgd sgd({}, 1);
  EXPECT_THROW(training_step([](Tape&, int) { return Value{}; }, sgd, {.batches = 0}), Error);
}

}  // namespace
}  // namespace howard::autograd
