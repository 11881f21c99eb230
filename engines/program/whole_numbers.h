// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "engines/program/tensor_spec.h"

// How tensors hold whole numbers, and what ttnn's conversions to them give. A std::int64_t has any
// number of any of these data types.

namespace howard {

/// Calls body(std::type_identity<T>()) with the type T of the numbers of a whole data type.
template <class Body>
auto with_whole_type(DataType dtype, const Body& body) {
  switch (dtype) {
    case DataType::int32:
      return body(std::type_identity<std::int32_t>());
    case DataType::uint16:
      return body(std::type_identity<std::uint16_t>());
    case DataType::uint8:
      return body(std::type_identity<std::uint8_t>());
    default:
      return body(std::type_identity<std::uint32_t>());
  }
}

/// Returns the number that has the lowest bits of `value`, as a register of this whole data type
/// holds it.
std::int64_t wrapped(DataType dtype, std::int64_t value);

/// Returns what ttnn's typecast makes of a whole number for a tensor of `To`: its lowest bits, but
/// for uint16 the limit where that cannot hold it.
template <class To>
To typecast(std::int64_t value) {
  if constexpr (!std::is_same_v<To, std::uint16_t>) return static_cast<To>(value);
  return static_cast<To>(
      std::clamp<std::int64_t>(value, 0, std::numeric_limits<std::uint16_t>::max()));
}

/// Returns what ttnn's typecast makes of a real number for a tensor of `To`. It drops the fraction
/// and gives the limit for a number beyond it. uint16 rounds to the nearest whole number, and
/// halves upwards; uint8 keeps the lowest bits of the whole part, and gives 0 for infinity. NaN
/// gives 0.
template <class To>
To typecast(double value) {
  constexpr double kMost = 0x1p62;  // The limits of all data types are within.
  if (value != value || (std::is_same_v<To, std::uint8_t> && std::isinf(value))) return 0;
  const double near = std::clamp(value, -kMost, kMost);
  if constexpr (std::is_same_v<To, std::uint8_t>) {
    return static_cast<To>(static_cast<std::int64_t>(near));
  }
  constexpr bool kRounds = std::is_same_v<To, std::uint16_t>;
  const auto whole = static_cast<std::int64_t>(kRounds ? std::floor(near + 0.5) : std::trunc(near));
  using Limits = std::numeric_limits<To>;
  return static_cast<To>(std::clamp<std::int64_t>(whole, Limits::min(), Limits::max()));
}

/// Returns what a typecast to a whole data type gives. `Number` is std::int64_t or double.
template <class Number>
std::int64_t typecast(DataType dtype, Number value) {
  return with_whole_type(dtype, [value](auto type) {
    return std::int64_t{typecast<typename decltype(type)::type>(value)};
  });
}

/// Returns a number of an op as one that its function takes: a float, a double or a std::int64_t.
template <class Number>
Number number_of(float number) {
  if constexpr (!std::is_same_v<Number, std::int64_t>) return Number{number};
  return static_cast<Number>(std::clamp(number, -0x1p62F, 0x1p62F));
}

/// Returns the number of this whole data type that lies at an address, and writes one there.
std::int64_t read_whole(DataType dtype, const std::byte* from);
void write_whole(DataType dtype, std::int64_t value, std::byte* to);

}  // namespace howard
