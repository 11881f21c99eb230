// SPDX-License-Identifier: Apache-2.0
#include "engines/host/kernels/elementwise/float_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "engines/host/kernels/vector_loops.h"

namespace howard::host {
namespace {

/// Returns every 1001st float of each sign up to `limit`.
std::vector<float> floats(float limit) {
  std::vector<float> values;
  for (std::uint32_t bits = 0; bits < std::bit_cast<std::uint32_t>(limit); bits += 1001) {
    values.push_back(std::bit_cast<float>(bits));
    values.push_back(-values.back());
  }
  return values;
}

/// Returns what the function does with every value, on each instruction set of this CPU; they must
/// agree.
template <class Function>
std::vector<float> mapped(const std::vector<float>& values, const Function& function) {
  std::vector<float> results(values.size());
  std::vector<float> others(values.size());
  const auto apply = [&](InstructionSet set, std::vector<float>& to) {
    run_on(set, [&function, from = values.data(), into = to.data(),
                 count = static_cast<std::int64_t>(values.size())]() HOWARD_INLINE {
      for_each(count, [=](std::int64_t i) HOWARD_INLINE { into[i] = function(from[i]); });
    });
  };
  apply(InstructionSet::v2, results);
  for (const InstructionSet set : {InstructionSet::v3, InstructionSet::v4}) {
    if (set > best_instruction_set()) continue;
    apply(set, others);
    EXPECT_EQ(std::memcmp(results.data(), others.data(), values.size() * sizeof(float)), 0)
        << "instruction set " << static_cast<int>(set);
  }
  return results;
}

/// Returns the largest error of actual against reference, relative to scale where that is 1e-36 at
/// least.
double worst(const std::vector<float>& values, const std::vector<float>& actual,
             const std::function<double(double)>& reference,
             const std::function<double(double)>& scale) {
  double largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto x = static_cast<double>(values[i]);
    const double size = std::abs(scale(x));
    if (size < 1e-36) continue;
    largest = std::max(largest, std::abs(static_cast<double>(actual[i]) - reference(x)) / size);
  }
  return largest;
}

double normal_below(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }
double bell_term(double x) { return x * std::exp(-x * x / 2) / std::sqrt(2 * std::acos(-1.0)); }

TEST(FloatMath, ExpIsExactTo2e7) {
  const std::vector<float> values = floats(88.0F);
  const auto exp = [](double x) { return std::exp(x); };
  const auto actual = mapped(values, [](float x) HOWARD_INLINE { return exp_of(x); });
  EXPECT_LT(worst(values, actual, exp, exp), 2e-7);
}

TEST(FloatMath, ErfIsExactTo4e7) {
  const std::vector<float> values = floats(20.0F);
  const auto erf = [](double x) { return std::erf(x); };
  const auto actual = mapped(values, [](float x) HOWARD_INLINE { return erf_of(x); });
  EXPECT_LT(worst(values, actual, erf, erf), 4e-7);
}

TEST(FloatMath, GeluIsExactTo1e6InTheTailToo) {
  const std::vector<float> values = floats(100.0F);
  const auto gelu = [](double x) { return x * normal_below(x); };
  const auto actual = mapped(values, [](float x) HOWARD_INLINE { return gelu_of(x); });
  EXPECT_LT(worst(values, actual, gelu, gelu), 1e-6);
}

TEST(FloatMath, TheSlopeOfGeluIsExactTo1e6OfItsTerms) {
  const std::vector<float> values = floats(100.0F);
  const auto slope = [](double x) { return normal_below(x) + bell_term(x); };
  const auto terms = [](double x) { return normal_below(x) + std::abs(bell_term(x)); };
  const auto actual = mapped(values, [](float x) HOWARD_INLINE { return gelu_slope_of(x); });
  EXPECT_LT(worst(values, actual, slope, terms), 1e-6);
}

TEST(FloatMath, LimitsAndNanPass) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(exp_of(-infinity), 0);
  EXPECT_EQ(exp_of(infinity), infinity);
  EXPECT_EQ(gelu_slope_of(-infinity), 0);
  EXPECT_EQ(gelu_slope_of(infinity), 1);
  EXPECT_EQ(erf_of(-infinity), -1);
  for (const float value : {exp_of(NAN), erf_of(NAN), gelu_of(NAN), gelu_slope_of(NAN)}) {
    EXPECT_TRUE(std::isnan(value));
  }
}

}  // namespace
}  // namespace howard::host
