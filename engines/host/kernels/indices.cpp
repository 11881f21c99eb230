// SPDX-License-Identifier: Apache-2.0
#include "engines/host/kernels/indices.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace howard::host {

Indices::Indices(const Call& call, std::size_t operand, std::int64_t size, std::string_view op)
    : values_(call.in_values<std::uint32_t>(operand)),
      count_(call.in(operand).shape.elements()),
      size_(size),
      op_(op) {}

void Indices::require_in_range() const {
  const std::uint32_t* end = values_ + count_;
  const std::uint32_t* bad = std::find_if(
      values_, end, [this](std::uint32_t index) { return std::int64_t{index} >= size_; });
  if (bad == end) return;
  throw Error({.attempted = fmt::format("compute {}", op_),
               .value = fmt::format("index {} at position {}", *bad, bad - values_),
               .accepted = fmt::format("0 to {}: there are {}", size_ - 1, size_)});
}

}  // namespace howard::host
