// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "engines/device/bfloat16.h"
#include "engines/host/instruction_set.h"
#include "engines/program/tensor_spec.h"
#include "engines/program/whole_numbers.h"

namespace howard::host {

// These are the building blocks of kernels: loading elements of either type as float, loops that
// the compiler vectorises, and sums in a fixed order.

/// The bits of a bfloat16, as buffers hold them.
using Half = std::uint16_t;

HOWARD_INLINE inline float load(const Half* values, std::int64_t i) {
  return from_bfloat16(values[i]);
}
HOWARD_INLINE inline float load(const float* values, std::int64_t i) { return values[i]; }
HOWARD_INLINE inline void store(Half* values, std::int64_t i, float value) {
  values[i] = to_bfloat16(value);
}
HOWARD_INLINE inline void store(float* values, std::int64_t i, float value) { values[i] = value; }

/// Calls body(std::type_identity<T>()) with the type T that holds an element of `dtype`, bfloat16
/// or float32.
template <class Body>
auto with_type(DataType dtype, const Body& body) {
  if (dtype == DataType::float32) return body(std::type_identity<float>());
  return body(std::type_identity<Half>());
}

/// Holds a whole number as buffers do. One of 16 bits is so told apart from a Half.
template <class T>
struct Whole {
  T value{};
};

template <class T>
HOWARD_INLINE inline std::int64_t load(const Whole<T>* values, std::int64_t i) {
  return values[i].value;
}
template <class T>
HOWARD_INLINE inline void store(Whole<T>* values, std::int64_t i, std::int64_t value) {
  values[i].value = static_cast<T>(value);
}

/// Does what with_type() does for whole data types too, whose T is a Whole.
template <class Body>
auto with_number(DataType dtype, const Body& body) {
  if (!is_whole(dtype)) return with_type(dtype, body);
  return with_whole_type(dtype, [&](auto type) {
    return body(std::type_identity<Whole<typename decltype(type)::type>>());
  });
}

/// Calls body(std::type_identity<T>()) with an unsigned type T that is as large as an element.
template <class Body>
auto with_bits(DataType dtype, const Body& body) {
  const std::int64_t bytes = element_bytes(dtype);
  if (bytes == 4) return body(std::type_identity<std::uint32_t>());
  if (bytes == 1) return body(std::type_identity<std::uint8_t>());
  return body(std::type_identity<std::uint16_t>());
}

/// Calls body(i) for i = 0 ... count - 1. No call may need what another one writes.
template <class Body>
HOWARD_INLINE inline void for_each(std::int64_t count, const Body& body) {
#ifdef __clang__
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
  for (std::int64_t i = 0; i < count; ++i) body(i);
}

/// A reduction keeps this many partial results on every instruction set: two vectors of AVX-512.
inline constexpr std::int64_t kLanes = 32;

/// Sums along rows are cut into pieces of this length, and then the sums of the pieces are added. A
/// piece is what one thread does at a time. Pieces also keep the error small: the error of a sum of
/// n terms grows with the longest chain of additions.
inline constexpr std::int64_t kRowPiece = 8192;

/// Combines the values of `element` at 0 ... count - 1, first lane by lane and then the lanes in
/// pairs.
template <class Combine, class Element>
HOWARD_INLINE inline float combine_lanes(std::int64_t count, float neutral, const Combine& combine,
                                         const Element& element) {
  float lanes[kLanes];
  for (std::int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] = neutral;
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] = combine(lanes[lane], element(i + lane));
    }
  }
  for (std::int64_t lane = 0; i + lane < count; ++lane) {
    lanes[lane] = combine(lanes[lane], element(i + lane));
  }
  for (std::int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::int64_t lane = 0; lane < half; ++lane) {
      lanes[lane] = combine(lanes[lane], lanes[lane + half]);
    }
  }
  return lanes[0];
}

struct Sum {
  static constexpr float kNeutral = 0.0F;
  HOWARD_INLINE float operator()(float a, float b) const { return a + b; }
};

/// Returns NaN if either is NaN.
struct Max {
  static constexpr float kNeutral = -std::numeric_limits<float>::infinity();
  HOWARD_INLINE float operator()(float a, float b) const { return a > b || a != a ? a : b; }
};

template <class Element>
HOWARD_INLINE inline float sum_of(std::int64_t count, const Element& element) {
  return combine_lanes(count, Sum::kNeutral, Sum(), element);
}

template <class Element>
HOWARD_INLINE inline float max_of(std::int64_t count, const Element& element) {
  return combine_lanes(count, Max::kNeutral, Max(), element);
}

}  // namespace howard::host
