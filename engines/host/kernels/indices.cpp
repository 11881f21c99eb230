// SPDX-License-Identifier: Apache-2.0
#include "engines/host/kernels/indices.h"

#include <fmt/format.h>

#include "base/error.h"

namespace howard::host {

Indices::Indices(const Call& call, std::size_t operand, std::int64_t size, std::string_view op)
    : values_(call.in_values(operand)),
      dtype_(call.in(operand).dtype),
      count_(call.in(operand).shape.elements()),
      size_(size),
      op_(op) {}

void Indices::require_in_range() const {
  std::int64_t bad = 0;
  while (bad < count_ && at(bad) >= 0 && at(bad) < size_) ++bad;
  if (bad == count_) return;
  throw Error({.attempted = fmt::format("compute {}", op_),
               .value = fmt::format("index {} at position {}", at(bad), bad),
               .accepted = fmt::format("0 to {}: there are {}", size_ - 1, size_)});
}

}  // namespace howard::host
