// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "engines/device/bfloat16.h"
#include "engines/device/device.h"

namespace howard::host {

/// Holds values of a tensor as the test computes with them.
using Values = std::vector<float>;

/// Returns `values` as a buffer of `dtype` holds them.
inline std::vector<std::byte> to_bytes(const Values& values, DataType dtype) {
  if (dtype == DataType::uint32) {
    const std::vector<std::uint32_t> words(values.begin(), values.end());
    std::vector<std::byte> bytes(words.size() * 4);
    std::memcpy(bytes.data(), words.data(), bytes.size());
    return bytes;
  }
  if (dtype == DataType::float32) {
    std::vector<std::byte> bytes(values.size() * 4);
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  }
  std::vector<std::byte> bytes(values.size() * 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint16_t bits = to_bfloat16(values[i]);
    std::memcpy(&bytes[2 * i], &bits, 2);
  }
  return bytes;
}

inline Values from_bytes(std::span<const std::byte> bytes, DataType dtype) {
  if (dtype == DataType::uint32) {
    std::vector<std::uint32_t> words(bytes.size() / 4);
    std::memcpy(words.data(), bytes.data(), bytes.size());
    return {words.begin(), words.end()};
  }
  Values values(bytes.size() / (dtype == DataType::float32 ? 4 : 2));
  if (dtype == DataType::float32) {
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, &bytes[2 * i], 2);
    values[i] = from_bfloat16(bits);
  }
  return values;
}

/// Returns values uniform in [-1, 1), as `dtype` can hold them.
inline Values random_values(std::int64_t count, DataType dtype, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  Values values(static_cast<std::size_t>(count));
  for (float& value : values) {
    value = uniform(random);
    if (dtype == DataType::bfloat16) value = from_bfloat16(to_bfloat16(value));
  }
  return values;
}

/// Returns a tensor on `device` that holds `values`.
inline Operand put(Device& device, const TensorSpec& spec, const Values& values) {
  const BufferId buffer = device.allocate(spec);
  device.command_queue(0).write_buffer(buffer, to_bytes(values, spec.dtype));
  return {buffer, spec};
}

inline Values get(Device& device, const Operand& operand) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(operand.spec.host_bytes().value()));
  device.command_queue(0).read_buffer(operand.buffer, bytes);
  return from_bytes(bytes, operand.spec.dtype);
}

/// Makes out = a b.
inline Program product(const Operand& a, const Operand& b, const Operand& out) {
  return make_program(MatmulAttributes{}, {a, b}, {out});
}

}  // namespace howard::host
