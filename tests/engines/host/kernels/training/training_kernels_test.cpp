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

std::int64_t index_at(const Given& indices, std::int64_t i) {
  return static_cast<std::int64_t>(indices.values[at(i)]);
}

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

TEST(HostEmbedding, RowsOfTheTableAreLookedUp) {
  for (const DataType dtype : kRealTypes) {
    Given table = random({300, 50}, dtype, 1);
    table.spec.layout = Layout::row_major;
    const Given indices = random_indices({3, 200}, 300, 2);
    const Values out = run(EmbeddingAttributes{}, {indices, table}, {{{3, 200, 50}, dtype}})[0];
    for (std::int64_t i = 0; i < size_of(out); ++i) {
      ASSERT_EQ(out[at(i)], table.values[at(index_at(indices, i / 50) * 50 + i % 50)]) << i;
    }
  }
}

TEST(HostEmbedding, BackwardSumsTheRowsOfEachIndex) {
  for (const DataType dtype : kRealTypes) {
    // Indices come often, once and never.
    for (const std::int64_t size : {3, 300, 5000}) {
      const std::int64_t columns = size == 3 ? 130 : 50;
      const Given indices = random_indices({3, 500}, size, 2);
      const Given dy = random({3, 500, columns}, dtype, 1);
      const Values out =
          run(EmbeddingBackwardAttributes{}, {indices, dy}, {{{size, columns}, dtype}})[0];
      std::vector<double> sums(at(size * columns));
      std::vector<double> magnitudes(sums.size());
      for (std::int64_t i = 0; i < size_of(dy.values); ++i) {
        const std::size_t target = at(index_at(indices, i / columns) * columns + i % columns);
        sums[target] += static_cast<double>(dy.values[at(i)]);
        magnitudes[target] += std::abs(static_cast<double>(dy.values[at(i)]));
      }
      expect_close(out, dtype, [&](std::int64_t i) -> Expected {
        return {sums[at(i)], 140 * kFloatRounding * magnitudes[at(i)]};
      });
    }
  }
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

struct Softmax {
  std::vector<double> values;
  double log_sum = 0;
};

Softmax softmax_of(const Given& logits, std::int64_t row) {
  const std::int64_t columns = logits.spec.shape.columns();
  Softmax result;
  const auto first = logits.values.begin() + row * columns;
  result.values.assign(first, first + columns);
  double sum = 0;
  for (const double x : result.values) sum += std::exp(x);
  for (double& x : result.values) x = std::exp(x) / sum;
  result.log_sum = std::log(sum);
  return result;
}

TEST(HostCrossEntropy, LossAndGradientAreThoseOfFloat64) {
  for (const DataType dtype : kRealTypes) {
    for (const std::int64_t columns : {1, 7, 96, 3000}) {
      SCOPED_TRACE(columns);
      const Given logits = random({3, 40, columns}, dtype, 1, -15, 15);
      const Given targets = random_indices({3, 40}, columns, 2);
      const Values loss =
          run(CrossEntropyAttributes{}, {logits, targets}, {{{3, 40, 1}, dtype}})[0];
      const double chain = (64 + static_cast<double>(columns) / 32) * kFloatRounding;
      expect_close(loss, dtype, [&](std::int64_t row) -> Expected {
        const std::int64_t target = row * columns + index_at(targets, row);
        return {softmax_of(logits, row).log_sum - static_cast<double>(logits.values[at(target)]),
                chain + 30 * kFloatRounding};
      });
      const float scale = 0.125F;
      const CrossEntropyBackwardAttributes backward{.scale = scale};
      const Values gradient = run(backward, {logits, targets}, {logits.spec})[0];
      Softmax softmax;
      expect_close(gradient, dtype, [&](std::int64_t i) -> Expected {
        const std::int64_t row = i / columns;
        if (i % columns == 0) softmax = softmax_of(logits, row);
        const double own = softmax.values[at(i % columns)];
        const double one = i % columns == index_at(targets, row) ? 1 : 0;
        return {static_cast<double>(scale) * (own - one),
                chain * static_cast<double>(scale) * std::max(own, one)};
      });
      EXPECT_TRUE(same_bits(run(backward, {logits, targets}, {logits.spec}, {0})[0], gradient));
    }
  }
}

TEST(HostNll, LossAndGradientAreThoseOfTheTargets) {
  for (const DataType dtype : kRealTypes) {
    const std::int64_t columns = 97;
    const Given logarithms = random({3, 40, columns}, dtype, 1, -15, 0);
    const Given targets = random_indices({3, 40}, columns, 2);
    const Values loss = run(CrossEntropyAttributes{.of_logarithms = true}, {logarithms, targets},
                            {{{3, 40, 1}, dtype}})[0];
    const CrossEntropyBackwardAttributes backward{.scale = 0.125F, .of_logarithms = true};
    const Values gradient = run(backward, {logarithms, targets}, {logarithms.spec})[0];
    for (std::int64_t i = 0; i < size_of(gradient); ++i) {
      const std::int64_t row = i / columns;
      const bool hit = i % columns == index_at(targets, row);
      EXPECT_EQ(gradient[at(i)], hit ? -0.125F : 0.0F);
      if (hit) {
        EXPECT_EQ(loss[at(row)], -logarithms.values[at(i)]);
      }
    }
  }
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

struct Parameter {
  double p, g, m, v;
};

/// Computes as AdamWAttributes says, in float64.
Parameter adamw(Parameter x, const AdamWAttributes& a) {
  const auto t = static_cast<double>(a.step);
  const auto [lr, b1, b2] = std::array{double{a.learning_rate}, double{a.beta1}, double{a.beta2}};
  x.p -= double{a.weight_decay} * lr * x.p;
  x.m = b1 * x.m + (1 - b1) * x.g;
  x.v = b2 * x.v + (1 - b2) * x.g * x.g;
  x.p -= lr * (x.m / (1 - std::pow(b1, t))) /
         (std::sqrt(x.v / (1 - std::pow(b2, t))) + double{a.epsilon});
  return x;
}

TEST(HostAdamW, AStepIsThatOfFloat64) {
  for (const DataType p_type : kRealTypes) {
    for (const DataType g_type : kRealTypes) {
      for (const DataType m_type : kRealTypes) {
        for (const std::int64_t step : {1, 2, 1000}) {
          const Shape shape{70, 257};
          const Given p = random(shape, p_type, 1);
          const Given g = random(shape, g_type, 2);
          const Given m = random(shape, m_type, 3);
          const Given v = random(shape, m_type, 4, 0, 1);
          const AdamWAttributes attributes{.learning_rate = 0.01F, .step = step};
          const auto results = run(attributes, {p, g, m, v}, {p.spec, m.spec, v.spec}, {0, 2, 3});
          const auto expected = [&](std::int64_t i) {
            return adamw({double{p.values[at(i)]}, double{g.values[at(i)]}, double{m.values[at(i)]},
                          double{v.values[at(i)]}},
                         attributes);
          };
          expect_close(results[0], p_type, [&](std::int64_t i) -> Expected {
            // 1 - 0.999 has 14 of 24 bits in float32, and 1 / (1 - 0.9^1) loses as many.
            const double change = std::abs(expected(i).p - double{p.values[at(i)]});
            return {expected(i).p, 4 * kFloatRounding + 1e-3 * kFloatRounding + 2e-5 * change};
          });
          expect_close(results[1], m_type, [&](std::int64_t i) -> Expected {
            return {expected(i).m, 4 * kFloatRounding};
          });
          expect_close(results[2], m_type, [&](std::int64_t i) -> Expected {
            return {expected(i).v, 4 * kFloatRounding};
          });
        }
      }
    }
  }
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

TEST(HostSgd, AStepIsThatOfFloat64) {
  for (const DataType p_type : kRealTypes) {
    for (const DataType g_type : kRealTypes) {
      for (const bool nesterov : {false, true}) {
        const Shape shape{70, 257};
        const Given p = random(shape, p_type, 1);
        const Given g = random(shape, g_type, 2);
        const Given b = random(shape, p_type, 3);
        const SgdAttributes a{.learning_rate = 0.25F,
                              .momentum = 0.75F,
                              .dampening = 0.5F,
                              .weight_decay = 0.125F,
                              .nesterov = nesterov};
        const auto results = run(a, {p, g, b}, {p.spec, b.spec}, {0, 2});
        const auto slope = [&](std::int64_t i) {
          return double{g.values[at(i)]} + 0.125 * double{p.values[at(i)]};
        };
        const auto buffer = [&](std::int64_t i) {
          return 0.75 * double{b.values[at(i)]} + 0.5 * slope(i);
        };
        expect_close(results[0], p_type, [&](std::int64_t i) -> Expected {
          const double step = nesterov ? slope(i) + 0.75 * buffer(i) : buffer(i);
          return {double{p.values[at(i)]} - 0.25 * step, 8 * kFloatRounding};
        });
        expect_close(results[1], p_type, [&](std::int64_t i) -> Expected {
          return {buffer(i), 8 * kFloatRounding};
        });
        const auto plain = run(SgdAttributes{.learning_rate = 0.5F}, {p, g}, {p.spec}, {0});
        expect_close(plain[0], p_type, [&](std::int64_t i) -> Expected {
          return {double{p.values[at(i)]} - 0.5 * double{g.values[at(i)]}, 4 * kFloatRounding};
        });
      }
    }
  }
}

TEST(HostTraining, OperandsThatDoNotFitAreErrors) {
  HostDevice device;
  const Given x = random({4, 6}, DataType::float32, 1);
  const Given narrow = random({4, 6}, DataType::bfloat16, 1);
  const Given indices = random_indices({1, 4}, 3, 1);
  const auto refuses = [&](const Attributes& attributes, const std::vector<Given>& inputs,
                           const std::vector<TensorSpec>& outputs) {
    EXPECT_THROW(run_on(device, attributes, inputs, outputs), Error);
  };
  refuses(EmbeddingAttributes{}, {x, x}, {x.spec});
  refuses(EmbeddingAttributes{}, {indices, x}, {{{5, 6}, DataType::float32}});
  refuses(EmbeddingBackwardAttributes{}, {indices, x}, {{{9, 5}, DataType::float32}});
  refuses(EmbeddingBackwardAttributes{}, {indices, x}, {{{9, 6}, DataType::bfloat16}});
  refuses(CrossEntropyAttributes{}, {x, x}, {{{4, 1}, DataType::float32}});
  refuses(CrossEntropyAttributes{}, {x, indices}, {{{3, 1}, DataType::float32}});
  refuses(CrossEntropyBackwardAttributes{}, {x, indices}, {narrow.spec});
  refuses(DropoutAttributes{.probability = 1}, {x}, {x.spec});
  refuses(DropoutAttributes{.probability = 0.5F}, {x}, {narrow.spec});
  refuses(AdamWAttributes{.step = 0}, {x, x, x, x}, {x.spec, x.spec, x.spec});
  refuses(AdamWAttributes{}, {x, x, x, narrow}, {x.spec, x.spec, narrow.spec});
  refuses(AdamWAttributes{}, {x, x, x}, {x.spec, x.spec, x.spec});
  refuses(SgdAttributes{}, {x, x, x}, {x.spec, x.spec});
  refuses(SgdAttributes{.momentum = 1}, {x, x, narrow}, {x.spec, x.spec});
  refuses(SgdAttributes{}, {x, indices}, {x.spec});
}

}  // namespace
}  // namespace howard::host
