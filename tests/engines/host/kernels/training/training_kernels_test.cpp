// SPDX-License-Identifier: Apache-2.0
// These tests cover embedding, cross-entropy, dropout and AdamW.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "engines/host/kernels/training/philox.h"
#include "tests/engines/host/host_calls.h"
#include "tests/error_of.h"

namespace howard::host {
namespace {

/// Fails unless running `attributes` says which index is where and what it should be below.
void expect_index_error(const Attributes& attributes, const std::vector<Given>& inputs,
                        const TensorSpec& out, const std::string& index,
                        const std::string& position, const std::string& size) {
  HostDevice device;
  const std::string message = error_of([&] { run_on(device, attributes, inputs, {out}); });
  EXPECT_NE(message.find("index " + index + " at position " + position), std::string::npos)
      << message;
  EXPECT_NE(message.find(size), std::string::npos) << message;
  EXPECT_NO_THROW(device.command_queue(0).finish());
}

TEST(HostEmbedding, AnIndexOutsideTheTableIsAnErrorThatNamesIt) {
  Given table = random({30, 5}, DataType::float32, 1);
  table.spec.layout = Layout::row_major;
  Given indices = random_indices({2, 4}, 30, 2);
  indices.values[6] = 30;
  const TensorSpec out{{2, 4, 5}, DataType::float32};
  expect_index_error(EmbeddingAttributes{}, {indices, table}, out, "30", "6", "0 to 29");
  const Given dy = random({2, 4, 5}, DataType::float32, 1);
  expect_index_error(EmbeddingBackwardAttributes{}, {indices, dy}, {{30, 5}, DataType::float32},
                     "30", "6", "0 to 29");
}

TEST(HostCrossEntropy, ATargetOutsideTheVocabularyIsAnErrorThatNamesIt) {
  const Given logits = random({2, 4, 7}, DataType::float32, 1);
  Given targets = random_indices({2, 4}, 7, 2);
  targets.values[3] = 12;
  const TensorSpec loss{{2, 4, 1}, DataType::float32};
  expect_index_error(CrossEntropyAttributes{}, {logits, targets}, loss, "12", "3", "0 to 6");
  expect_index_error(CrossEntropyBackwardAttributes{}, {logits, targets}, logits.spec, "12", "3",
                     "0 to 6");
}

TEST(HostDropout, RandomWordsAreThoseOfPhilox4x32With7Rounds) {
  // These are Random123's known answers (kat_vectors), for a counter and a key of 0.
  const std::array<std::uint32_t, 4> known{0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48};
  EXPECT_EQ(philox(0, 0), known);
}

TEST(HostDropout, DropsTheShareAskedForAndScalesTheRest) {
  for (const DataType dtype : kRealTypes) {
    const Given x{{{300, 1001}, dtype}, Values(300 * 1001, 3.0F)};
    const Values out =
        run(DropoutAttributes{.probability = 0.25F, .seed = 7}, {x}, {x.spec}, {0})[0];
    const auto dropped = static_cast<double>(std::ranges::count(out, 0.0F));
    EXPECT_EQ(std::ranges::count(out, 4.0F), size_of(out) - std::ranges::count(out, 0.0F));
    // These are six standard deviations of a binomial distribution.
    const auto count = static_cast<double>(out.size());
    EXPECT_NEAR(dropped, count / 4, 6 * std::sqrt(count * 3 / 16));
  }
}

Values mask(std::uint32_t seed, std::int64_t count) {
  const Given x{{{1, count}, DataType::float32}, Values(at(count), 1.0F)};
  return run(DropoutAttributes{.probability = 0.5F, .seed = seed}, {x}, {x.spec})[0];
}

TEST(HostDropout, AnOffsetOnTheDeviceIsAddedToTheSeed) {
  const Given x{{{1, 5000}, DataType::float32}, Values(5000, 1.0F)};
  Given offset = random_indices({1, 1}, 1, 1);
  offset.values[0] = 6;
  const DropoutAttributes attributes{.probability = 0.5F, .seed = 0xffff'fffeU};
  EXPECT_EQ(run(attributes, {x, offset}, {x.spec})[0], mask(4, 5000)) << "wrapping";
}

TEST(HostDropout, TheSeedAloneChoosesTheElements) {
  const Values once = mask(1, 10'000);
  EXPECT_EQ(mask(1, 10'000), once);
  const Values shorter = mask(1, 700);
  EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), once.begin())) << "whatever the size";
  // Two masks agree in half of the places, whatever the distance between their elements.
  const Values other = mask(2, 10'000);
  for (const std::size_t shift : {0U, 1U, 64U, 512U, 1000U}) {
    for (const Values* second : {&once, &other}) {
      if (second == &once && shift == 0) continue;
      int equal = 0;
      for (std::size_t i = 0; i < 5000; ++i) equal += once[i] == (*second)[i + shift] ? 1 : 0;
      EXPECT_NEAR(equal, 2500, 6 * std::sqrt(5000.0) / 2) << shift;
    }
  }
  const Given x{{{1, 100}, DataType::float32}, Values(100, 1.0F)};
  EXPECT_EQ(run(DropoutAttributes{.probability = 0, .seed = 1}, {x}, {x.spec})[0], x.values);
}

TEST(HostAdamW, OptionsAreThoseOfFloat64) {
  const Shape shape{70, 257};
  for (const DataType type : kRealTypes) {
    const Given p = random(shape, type, 1);
    const Given g = random(shape, type, 2);
    const Given m = random(shape, type, 3);
    const Given v = random(shape, type, 4, 0, 1);
    const Given largest = random(shape, type, 5, 0, 20);
    const Given lost = random(shape, type, 6, -1e-4F, 1e-4F);
    const AdamWAttributes attributes{
        .learning_rate = 0.01F, .step = 50, .amsgrad = true, .kahan = true};
    const auto results = run(attributes, {p, g, m, v, largest, lost},
                             {p.spec, m.spec, v.spec, v.spec, p.spec}, {0, 2, 3, 4, 5});
    const auto hat = [&](std::int64_t i) {
      const double second = 0.999 * double{v.values[at(i)]} +
                            0.001 * double{g.values[at(i)]} * double{g.values[at(i)]};
      return std::max(second / (1 - std::pow(0.999, 50)), double{largest.values[at(i)]});
    };
    expect_close(results[3], type, [&](std::int64_t i) -> Expected {
      return {hat(i), 2e-5 * hat(i)};
    });
    const auto sum = [&](std::int64_t i) {
      const double first = 0.9 * double{m.values[at(i)]} + 0.1 * double{g.values[at(i)]};
      const double change = -0.01 * first / (1 - std::pow(0.9, 50)) / (std::sqrt(hat(i)) + 1e-8);
      return double{p.values[at(i)]} * (1 - 1e-4) + change - double{lost.values[at(i)]};
    };
    // What the parameter and its compensation say together is right to more than the type holds.
    const double rest = type == DataType::bfloat16 ? 1e-5 : 1e-6;
    for (std::int64_t i = 0; i < shape.elements(); ++i) {
      const double together = double{results[0][at(i)]} - double{results[4][at(i)]};
      ASSERT_NEAR(together, sum(i), 2 * rest) << i;
    }
  }
}

TEST(HostAdamW, RoundingByChanceIsRightOnAverage) {
  const Shape shape{300, 1001};
  const TensorSpec spec{shape, DataType::bfloat16};
  const auto filled = [&](float value) { return Given{spec, Values(at(shape.elements()), value)}; };
  // The step is lr / (1 + epsilon) from 1 down: a quarter of the way to the next bfloat16, 1 / 256
  // below.
  AdamWAttributes attributes{.learning_rate = 1.0F / 1024,
                             .beta1 = 0,
                             .beta2 = 0,
                             .epsilon = 0,
                             .weight_decay = 0,
                             .step = 1};
  const std::vector<Given> inputs{filled(1), filled(1), filled(0), filled(0)};
  const std::vector<TensorSpec> outputs{spec, spec, spec};
  EXPECT_EQ(run(attributes, inputs, outputs, {0, 2, 3})[0][0], 1) << "the nearest";
  attributes.rounding_seed = 3;
  const Values drawn = run(attributes, inputs, outputs, {0, 2, 3})[0];
  const auto below = std::ranges::count(drawn, 1 - 1.0F / 256);
  EXPECT_EQ(below + std::ranges::count(drawn, 1.0F), size_of(drawn));
  const auto count = static_cast<double>(drawn.size());
  EXPECT_NEAR(static_cast<double>(below), count / 4, 6 * std::sqrt(count * 3 / 16));
  EXPECT_EQ(run(attributes, inputs, outputs, {0, 2, 3})[0], drawn) << "the same seed";
  attributes.rounding_seed = 4;
  EXPECT_NE(run(attributes, inputs, outputs, {0, 2, 3})[0], drawn);
}

}  // namespace
}  // namespace howard::host
