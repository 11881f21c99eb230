// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "engines/program/eltwise.h"
#include "engines/program/eltwise_fixed.h"

// Functions of whole numbers. They are computed in 64 bits, of which the caller keeps those of the
// data type, so that sums and products wrap as in a register. Division by 0 gives 0.

namespace howard::eltwise_detail {

/// Returns the lowest 64 bits of x y.
inline std::int64_t product(std::int64_t x, std::int64_t y) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y));
}

/// Returns x to the power of y, without its fraction where y < 0.
inline std::int64_t whole_power(std::int64_t x, std::int64_t y) {
  if (y < 0) return x == 1 || (x == -1 && y % 2 == 0) ? 1 : (x == -1 ? -1 : 0);
  std::int64_t result = 1;
  for (; y > 0; y /= 2) {
    if (y % 2 == 1) result = product(result, x);
    x = product(x, x);
  }
  return result;
}

/// Returns the quotient x / y rounded downwards, or towards 0.
inline std::int64_t whole_quotient(std::int64_t x, std::int64_t y, bool downwards) {
  if (y == 0) return 0;
  return x / y - (downwards && x % y != 0 && (x < 0) != (y < 0) ? 1 : 0);
}

/// Computes functions of two whole numbers.
template <Eltwise kFunction>
std::int64_t of_two_whole(std::int64_t x, std::int64_t y, std::int64_t first) {
  using E = Eltwise;
  if constexpr (kFunction >= E::bitwise_and && kFunction <= E::logical_right_shift) {
    return of_whole<kFunction>(x, y);
  }
  if constexpr (kFunction == E::add) return x + y;
  if constexpr (kFunction == E::subtract) return x - y;
  if constexpr (kFunction == E::multiply) return product(x, y);
  if constexpr (kFunction == E::rsub) return y - x;
  if constexpr (kFunction == E::squared_difference) return product(x - y, x - y);
  if constexpr (is_comparison(kFunction)) return holds<kFunction>(x, y) ? 1 : 0;
  if constexpr (kFunction == E::maximum) return std::max(x, y);
  if constexpr (kFunction == E::minimum) return std::min(x, y);
  if constexpr (kFunction == E::pow) return whole_power(x, y);
  if constexpr (kFunction == E::remainder) {
    return y == 0 ? 0 : x - product(y, whole_quotient(x, y, true));
  }
  if constexpr (kFunction == E::fmod) return y == 0 ? 0 : x % y;
  if constexpr (kFunction == E::addalpha) return x + product(first, y);
  if constexpr (kFunction == E::subalpha) return x - product(first, y);
  if constexpr (kFunction == E::gcd) return std::gcd(x, y);
  if constexpr (kFunction == E::lcm) return std::lcm(x, y);
  if constexpr (kFunction == E::floor_div) return whole_quotient(x, y, true);
  if constexpr (kFunction == E::trunc_div) return whole_quotient(x, y, false);
  return 0;
}

/// Computes functions of one whole number.
template <Eltwise kFunction>
std::int64_t of_one_whole(std::int64_t x, std::int64_t first, std::int64_t second) {
  using E = Eltwise;
  if constexpr (kFunction == E::relu) return std::max(x, std::int64_t{0});
  if constexpr (kFunction == E::gtz) return x > 0 ? 1 : 0;
  if constexpr (kFunction == E::square) return product(x, x);
  if constexpr (kFunction == E::cast || kFunction == E::identity) return x;
  if constexpr (kFunction == E::abs) return x < 0 ? -x : x;
  if constexpr (kFunction == E::neg) return -x;
  if constexpr (kFunction == E::sign) return (x > 0) - (x < 0);
  if constexpr (kFunction == E::signbit || kFunction == E::ltz) return x < 0 ? 1 : 0;
  if constexpr (kFunction == E::eqz || kFunction == E::logical_not) return x == 0 ? 1 : 0;
  if constexpr (kFunction == E::nez) return x != 0 ? 1 : 0;
  if constexpr (kFunction == E::lez) return x <= 0 ? 1 : 0;
  if constexpr (kFunction == E::gez) return x >= 0 ? 1 : 0;
  if constexpr (kFunction >= E::ceil && kFunction <= E::trunc) return x;
  if constexpr (kFunction == E::relu6) return std::clamp<std::int64_t>(x, 0, 6);
  if constexpr (kFunction == E::relu_max) {
    return std::min(std::max<std::int64_t>(x, 0), std::max<std::int64_t>(first, 0));
  }
  if constexpr (kFunction == E::relu_min) return std::max(x, first);
  if constexpr (kFunction == E::clamp || kFunction == E::hardtanh) {
    return std::min(std::max(x, first), second);
  }
  if constexpr (kFunction == E::bitwise_not) return ~x;
  if constexpr (kFunction == E::power) return whole_power(x, first);
  return 0;
}

/// Computes a function that takes whole numbers, of numbers of 32 bits or less.
template <Eltwise kFunction>
std::int64_t whole_value(std::int64_t x, std::int64_t y, std::int64_t z, std::int64_t first,
                         std::int64_t second) {
  if constexpr (kFunction == Eltwise::where) return x != 0 ? y : z;
  if constexpr (kFunction == Eltwise::fill) return x;
  if constexpr (kFunction <= Eltwise::silu_backward) return of_two_whole<kFunction>(x, y, first);
  return of_one_whole<kFunction>(x, first, second);
}

}  // namespace howard::eltwise_detail
