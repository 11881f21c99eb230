// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "engines/device/tensor_spec.h"

namespace howard::host {

/// How two operands are walked through, row by row of the result. Dimensions that both operands
/// walk through in one go are taken as one: tensors of equal shapes are one long row.
struct Broadcast {
  struct Dimension {
    std::int64_t size = 1;
    std::int64_t a = 0;  ///< Elements from one to the next; 0 where the operand has only one.
    std::int64_t b = 0;
  };
  std::array<Dimension, 3> outer;  ///< From the outermost.
  Dimension row;                   ///< Steps of 0 or 1.

  std::int64_t rows() const { return outer[0].size * outer[1].size * outer[2].size; }

  struct Offsets {
    std::int64_t a = 0;
    std::int64_t b = 0;
  };
  /// Where row `index` of the result begins in the operands.
  Offsets offsets(std::int64_t index) const;
};

/// Of operands a and b that ttnn's broadcasting fits together to `out`.
Broadcast broadcast_of(const Shape& out, const Shape& a, const Shape& b);

}  // namespace howard::host
