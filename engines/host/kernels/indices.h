// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "engines/host/kernels/kernel.h"

namespace howard::host {

/// A uint32 operand that chooses rows or columns, 0 ... size - 1, of another operand.
class Indices {
 public:
  /// Takes input `operand` of `call`; `op` is the op's name (static storage).
  Indices(const Call& call, std::size_t operand, std::int64_t size, std::string_view op);

  std::int64_t count() const { return count_; }
  std::int64_t at(std::int64_t position) const { return values_[position]; }

  /// Throws Error for the first index that is not below the size; the text says where it stands.
  void require_in_range() const;

 private:
  const std::uint32_t* values_;
  std::int64_t count_;
  std::int64_t size_;
  std::string_view op_;
};

}  // namespace howard::host
