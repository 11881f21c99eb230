// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "engines/program/tensor_spec.h"

namespace howard::host {

/// Says how to walk through two operands, row by row of the result. Neighbouring dimensions that
/// can be walked through in one go are merged: tensors of equal shapes become one long row.
struct Broadcast {
  struct Dimension {
    std::int64_t size = 1;
    std::int64_t a = 0;  ///< The step from one element to the next; 0 if the operand has only one.
    std::int64_t b = 0;
  };
  std::array<Dimension, 3> outer;  ///< The outermost dimension comes first.
  Dimension row;                   ///< Its steps are 0 or 1.

  std::int64_t rows() const { return outer[0].size * outer[1].size * outer[2].size; }

  struct Offsets {
    std::int64_t a = 0;
    std::int64_t b = 0;
  };
  /// Returns where row `index` of the result begins in each operand.
  Offsets offsets(std::int64_t index) const;
};

/// Returns how to walk through operands a and b, which ttnn's broadcasting combines to `out`.
Broadcast broadcast_of(const Shape& out, const Shape& a, const Shape& b);

}  // namespace howard::host
