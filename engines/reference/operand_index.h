// SPDX-License-Identifier: Apache-2.0
/// Indices of four dimensions into the values of an operand.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engines/reference/reference_ops.h"

namespace howard::reference {

/// Holds a position or the extents of a tensor: outer, heads, rows, columns.
using Index = std::array<std::int64_t, 4>;

/// Returns the extents of a shape, the outermost first.
inline Index dimensions(const Shape& shape) {
  return {shape.outer(), shape.heads(), shape.rows(), shape.columns()};
}

/// Returns the place of element `at` in the values of a tensor of this size. A dimension of one has
/// one element, whatever the index.
inline std::size_t offset(const Index& size, const Index& at) {
  std::int64_t result = 0;
  for (std::size_t i = 0; i < 4; ++i) result = result * size[i] + (size[i] == 1 ? 0 : at[i]);
  return static_cast<std::size_t>(result);
}

/// Visits every index of a tensor of this size, in the order of its values.
template <class Visit>
void for_each(const Index& size, const Visit& visit) {
  Index at{};
  for (at[0] = 0; at[0] < size[0]; ++at[0])
    for (at[1] = 0; at[1] < size[1]; ++at[1])
      for (at[2] = 0; at[2] < size[2]; ++at[2])
        for (at[3] = 0; at[3] < size[3]; ++at[3]) visit(at);
}

/// Returns element `at` of an operand. Along a dimension of one, every index gets the same element.
inline double get(const Operand& operand, const Values& values, const Index& at) {
  return values[offset(dimensions(operand.spec.shape), at)];
}

}  // namespace howard::reference
