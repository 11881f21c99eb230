// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engines/host/kernels/kernels.h"
#include "engines/host/kernels/vector_loops.h"

namespace howard::host {

/// The mask of attention, [b or 1, h or 1, s, t]; without one its values are null.
template <class T>
struct MaskRows {
  const T* values = nullptr;
  std::int64_t of_batch = 0, of_head = 0;  ///< From one to the next; 0 if all share one.
  std::int64_t rows = 0, keys = 0;         ///< s and t.

  HOWARD_INLINE explicit operator bool() const { return values != nullptr; }
  /// Returns what row `row` of a head adds to its scores, or what they are multiplied by.
  HOWARD_INLINE const T* row(std::int64_t batch, std::int64_t head, std::int64_t row) const {
    return values + batch * of_batch + head * of_head + row * keys;
  }
};

/// Returns the mask that is the operand `place` of `call`, or none if that is past the last one.
template <class T>
MaskRows<T> mask_rows(const Call& call, std::size_t place) {
  if (call.inputs() <= place) return {};
  const Shape& mask = call.in(place).shape;
  const std::int64_t of_head = mask.rows() * mask.columns();
  return {.values = call.in_values<T>(place),
          .of_batch = mask.outer() == 1 ? 0 : mask.heads() * of_head,
          .of_head = mask.heads() == 1 ? 0 : of_head,
          .rows = mask.rows(),
          .keys = mask.columns()};
}

/// Returns what a score loses where TTML's mask is 0: 10^9, rounded to T, as the largest score of a
/// row is kept, so that a row that sees nothing sees all alike.
template <class T>
float hidden_by() {
  T rounded;
  store(&rounded, 0, 1e9F);
  return load(&rounded, 0);
}

/// Returns a score of TTML's attention under a mask, which is 1 where a place is seen.
HOWARD_INLINE inline float masked_score(float score, float mask, float hidden) {
  return mask * score + (mask - 1.0F) * hidden;
}

}  // namespace howard::host
