// SPDX-License-Identifier: Apache-2.0
#include "engines/arrays/array.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"

namespace howard::arrays {

std::int64_t elements_of(const Dims& shape) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  std::int64_t elements = 1;
  for (const std::int64_t dimension : shape) {
    if (dimension < 0 || (dimension > 0 && elements > kMost / dimension)) {
      throw Error({.attempted = "make an array",
                   .value = "shape " + text(shape),
                   .accepted = "dimensions from 0, 2^40 elements at most"});
    }
    elements *= dimension;
  }
  return elements;
}

Array::Array(Dims shape, bool whole)
    : shape_(std::move(shape)),
      whole_(whole),
      words_(std::make_shared<std::vector<float>>(static_cast<std::size_t>(elements_of(shape_)))) {}

std::size_t Array::axis(std::int64_t dimension) const {
  const std::int64_t rank = std::ssize(shape_);
  const std::int64_t from_first = dimension < 0 ? dimension + rank : dimension;
  if (from_first < 0 || from_first >= rank) {
    throw Error({.attempted = fmt::format("use dimension {} of a tensor", dimension),
                 .value = fmt::format("it has the shape {}", text(shape_)),
                 .accepted = fmt::format("{} to {}", -rank, rank - 1)});
  }
  return static_cast<std::size_t>(from_first);
}

void Array::set(std::size_t i, double value) {
  if (!whole_) {
    (*words_)[i] = static_cast<float>(value);
    return;
  }
  // This is what a 32 bit register would hold; NaN and infinity become 0.
  const double wrapped = std::isfinite(value) ? std::fmod(std::trunc(value), 0x1p32) : 0;
  const auto bits = static_cast<std::uint32_t>(static_cast<std::int64_t>(wrapped));
  (*words_)[i] = std::bit_cast<float>(bits);
}

Array Array::reshaped(Dims shape) const {
  if (elements_of(shape) != size()) {
    throw Error({.attempted = "reshape a tensor of " + text(shape_),
                 .value = "to " + text(shape),
                 .accepted = "as many elements"});
  }
  Array result = *this;
  result.shape_ = std::move(shape);
  return result;
}

std::string text(const Dims& shape) {
  return shape.empty() ? "[]" : fmt::format("{}", fmt::join(shape, "x"));
}

Dims broadcast(const Dims& a, const Dims& b) {
  Dims result(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) {
      throw Error({.attempted = "broadcast tensors to one shape",
                   .value = text(a) + " and " + text(b),
                   .accepted = "dimensions that are equal or 1, from the last one"});
    }
    result[result.size() - 1 - i] = x == 1 ? y : x;
  }
  return result;
}

}  // namespace howard::arrays
