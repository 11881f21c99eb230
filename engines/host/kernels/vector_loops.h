// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "engines/device/bfloat16.h"
#include "engines/device/tensor_spec.h"
#include "engines/host/instruction_set.h"

namespace howard::host {

// What kernels are written with: elements of either type as float, loops that the compiler
// vectorises, sums in a fixed order.

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

/// body(std::type_identity<T>()) for the type that holds an element of `dtype`, bfloat16 or
/// float32.
template <class Body>
auto with_type(DataType dtype, const Body& body) {
  if (dtype == DataType::float32) return body(std::type_identity<float>());
  return body(std::type_identity<Half>());
}

/// body(i) for i = 0 ... count - 1, of which none may need what another writes.
template <class Body>
HOWARD_INLINE inline void for_each(std::int64_t count, const Body& body) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) body(i);
}

/// How many partial results a reduction keeps: two vectors of AVX-512, on every instruction set.
inline constexpr std::int64_t kLanes = 32;

/// Sums along rows are cut into pieces of this length, whose sums are added then: for what one
/// thread does at a time, and because the error of a sum of n terms grows as the longest chain of
/// additions.
inline constexpr std::int64_t kRowPiece = 8192;

/// The values of `element` at 0 ... count - 1 combined, lane by lane and then the lanes pairwise.
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

/// NaN if either is.
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
