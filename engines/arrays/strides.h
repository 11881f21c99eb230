// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/arrays/array.h"

namespace howard::arrays {

/// Returns how far apart neighbours of each dimension lie.
inline Dims strides_of(const Dims& shape) {
  Dims strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

/// Returns the strides of an operand that is broadcast to `shape`: 0 along dimensions that it
/// repeats.
inline Dims broadcast_strides(const Dims& operand, const Dims& shape) {
  const Dims own = strides_of(operand);
  Dims strides(shape.size());
  for (std::size_t i = 0; i < operand.size(); ++i) {
    const std::size_t to = shape.size() - operand.size() + i;
    strides[to] = operand[i] == 1 ? 0 : own[i];
  }
  return strides;
}

/// Calls visit(place in the output, place in the input) for each element of `shape`, row by row.
/// The input's place begins at `start` and moves by `strides`.
template <class Visit>
void for_each_place(const Dims& shape, const Dims& strides, std::int64_t start,
                    const Visit& visit) {
  const std::int64_t size = elements_of(shape);
  if (size == 0) return;
  if (shape.empty()) {
    visit(std::size_t{0}, static_cast<std::size_t>(start));
    return;
  }
  Dims at(shape.size());
  const std::size_t last = shape.size() - 1;
  std::int64_t from = start;
  for (std::int64_t to = 0; to < size;) {
    for (std::int64_t i = 0; i < shape[last]; ++i, ++to) {
      visit(static_cast<std::size_t>(to), static_cast<std::size_t>(from + i * strides[last]));
    }
    for (std::size_t d = last; d-- > 0;) {
      from += strides[d];
      if (++at[d] < shape[d]) break;
      from -= strides[d] * shape[d];
      at[d] = 0;
    }
  }
}

/// An array seen along one dimension: `outer` times `length` times `inner` elements.
struct Lines {
  std::int64_t outer = 1, length = 1, inner = 1;

  Lines(const Dims& shape, std::size_t dimension) : length(shape[dimension]) {
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (i < dimension) outer *= shape[i];
      if (i > dimension) inner *= shape[i];
    }
  }
  std::size_t place(std::int64_t o, std::int64_t l, std::int64_t i) const {
    return static_cast<std::size_t>((o * length + l) * inner + i);
  }
};

}  // namespace howard::arrays
