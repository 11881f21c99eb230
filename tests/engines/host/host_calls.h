// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "engines/host/host_device.h"
#include "tests/engines/host/kernels/matmul/host_products.h"

namespace howard::host {

inline std::int64_t size_of(const Values& values) {
  return static_cast<std::int64_t>(values.size());
}
inline std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Holds a tensor as the test hands it to the device.
struct Given {
  TensorSpec spec;
  Values values;
};

/// Returns values uniform in [low, high), as the data type can hold them.
inline Given random(const Shape& shape, DataType dtype, std::uint64_t seed, float low = -1,
                    float high = 1) {
  Values values = random_values(shape.elements(), DataType::float32, seed);
  for (float& value : values) {
    value = low + (value + 1) / 2 * (high - low);
    if (dtype == DataType::bfloat16) value = from_bfloat16(to_bfloat16(value));
  }
  return {{shape, dtype}, values};
}

/// Returns uint32 in 0 ... size - 1, row-major. Values holds them as floats, which are exact below
/// 2^24.
inline Given random_indices(const Shape& shape, std::int64_t size, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::uniform_int_distribution<std::int64_t> uniform(0, size - 1);
  Values values(at(shape.elements()));
  for (float& value : values) value = static_cast<float>(uniform(generator));
  return {{shape, DataType::uint32, Layout::row_major}, values};
}

/// Runs one op. `in_place[i]`, if given and not negative, is the input that output i replaces.
inline std::vector<Values> run_on(Device& device, const Attributes& attributes,
                                  const std::vector<Given>& inputs,
                                  const std::vector<TensorSpec>& outputs,
                                  const std::vector<int>& in_place = {}) {
  std::vector<Operand> operands, places;
  for (const Given& given : inputs) operands.push_back(put(device, given.spec, given.values));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (i < in_place.size() && in_place[i] >= 0) {
      places.push_back(operands[static_cast<std::size_t>(in_place[i])]);
    } else {
      places.push_back({device.allocate(outputs[i]), outputs[i]});
    }
  }
  const Program program = make_program(attributes, std::move(operands), std::move(places));
  device.command_queue(0).enqueue(program);
  std::vector<Values> results;
  for (const Operand& output : program.outputs) results.push_back(get(device, output));
  return results;
}

/// Returns whether the bits are equal; NaN equals itself.
inline bool same_bits(const Values& a, const Values& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// Calls run_on() with one thread and with all, expects equal bits, and returns the results.
inline std::vector<Values> run(const Attributes& attributes, const std::vector<Given>& inputs,
                               const std::vector<TensorSpec>& outputs,
                               const std::vector<int>& in_place = {}) {
  HostDevice single({.threads = 1});
  HostDevice all;
  std::vector<Values> results = run_on(single, attributes, inputs, outputs, in_place);
  const std::vector<Values> others = run_on(all, attributes, inputs, outputs, in_place);
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_TRUE(same_bits(results[i], others[i])) << "result " << i << " differs between threads";
  }
  return results;
}

/// Holds what float64 says, and how far the arithmetic in float32 may be from it.
struct Expected {
  double value = 0;
  double error = 0;
};

/// The largest rounding error relative to a number: half an ulp of float32.
inline constexpr double kFloatRounding = 0x1p-24;

/// Fails unless each value is its expected one up to that error and the rounding to `dtype`, which
/// is half an ulp: at most 2^-8 of a bfloat16 and 2^-24 of a float32. Numbers below float32's
/// normal ones may be lost.
inline void expect_close(const Values& actual, DataType dtype,
                         const std::function<Expected(std::int64_t)>& expected) {
  const double rounding = dtype == DataType::bfloat16 ? 0x1p-8 : kFloatRounding;
  for (std::int64_t i = 0; i < size_of(actual); ++i) {
    const auto [value, error] = expected(i);
    const double tolerance = error + rounding * (std::abs(value) + error) + 0x1p-126;
    ASSERT_NEAR(actual[at(i)], value, tolerance) << "element " << i;
  }
}

inline constexpr std::array kRealTypes{DataType::bfloat16, DataType::float32};

}  // namespace howard::host
