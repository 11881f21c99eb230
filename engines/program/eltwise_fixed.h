// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "engines/program/eltwise.h"
#include "engines/program/special_functions.h"

// Functions that are computed in one type, whatever the type of their arguments is, and those whose
// formula is the same for real and for whole numbers.

namespace howard::eltwise_detail {

/// Says whether a function gives 1 where something holds of two values, and 0 elsewhere.
constexpr bool is_comparison(Eltwise function) {
  return function >= Eltwise::eq && function <= Eltwise::logical_xor;
}

/// Says whether a comparison holds.
template <Eltwise kFunction, class Number>
bool holds(Number x, Number y) {
  using E = Eltwise;
  if constexpr (kFunction == E::eq) return x == y;
  if constexpr (kFunction == E::ne) return x != y;
  if constexpr (kFunction == E::lt) return x < y;
  if constexpr (kFunction == E::le) return x <= y;
  if constexpr (kFunction == E::gt) return x > y;
  if constexpr (kFunction == E::ge) return x >= y;
  if constexpr (kFunction == E::logical_and) return x != 0 && y != 0;
  if constexpr (kFunction == E::logical_or) return x != 0 || y != 0;
  if constexpr (kFunction == E::logical_xor) return (x != 0) != (y != 0);
}

/// Computes special functions.
template <Eltwise kFunction>
double special_one(double x, double first) {
  using E = Eltwise;
  if constexpr (kFunction == E::erfinv) return special::erfinv(x);
  if constexpr (kFunction == E::i0) return special::bessel(0, x);
  if constexpr (kFunction == E::i1) return special::bessel(1, x);
  if constexpr (kFunction == E::lgamma) return std::lgamma(x);
  if constexpr (kFunction == E::digamma) return special::polygamma(0, x);
  const int order = static_cast<int>(first);
  if constexpr (kFunction == E::polygamma) return special::polygamma(order, x);
  if constexpr (kFunction == E::multigammaln) return special::multigammaln(order, x);
}

/// Computes functions of the bits of two whole numbers of 32 bits. Shifts to the left, and those
/// that bring zeros, give 0 for a place that the bits have not.
template <Eltwise kFunction>
std::int64_t of_whole(std::int64_t x, std::int64_t y) {
  using E = Eltwise;
  const auto shift = std::clamp(y, std::int64_t{0}, std::int64_t{32});
  if constexpr (kFunction == E::bitwise_and) return x & y;
  if constexpr (kFunction == E::bitwise_or) return x | y;
  if constexpr (kFunction == E::bitwise_xor) return x ^ y;
  if constexpr (kFunction >= E::bitwise_left_shift && kFunction <= E::logical_right_shift &&
                kFunction != E::bitwise_right_shift) {
    if (y < 0 || y > 31) return 0;
  }
  if constexpr (kFunction == E::bitwise_left_shift) return x << shift;
  if constexpr (kFunction == E::bitwise_right_shift) return x >> shift;
  if constexpr (kFunction == E::logical_left_shift) return x << shift;
  if constexpr (kFunction == E::logical_right_shift) return (x & 0xFFFFFFFF) >> shift;
  if constexpr (kFunction == E::bitwise_not) return ~x;
}

/// Returns x without its fraction, or 0 if that is no whole number of 32 bits.
template <class Real>
std::int64_t whole(Real x) {
  return std::fabs(x) <= Real(0x1p31) ? static_cast<std::int64_t>(x) : 0;
}

}  // namespace howard::eltwise_detail
