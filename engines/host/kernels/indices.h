// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engines/host/kernels/kernel.h"
#include "engines/program/whole_numbers.h"

namespace howard::host {

/// An operand of whole numbers that chooses rows or columns, 0 ... size - 1, of another operand.
class Indices {
 public:
  /// Takes input `operand` of `call`; `op` is the op's name (static storage).
  Indices(const Call& call, std::size_t operand, std::int64_t size, std::string_view op);

  std::int64_t count() const { return count_; }
  std::int64_t at(std::int64_t position) const {
    return read_whole(dtype_, values_ + position * element_bytes(dtype_));
  }

  /// Throws Error for the first index that is below 0 or not below the size; the text says where it
  /// stands.
  void require_in_range() const;

 private:
  const std::byte* values_;
  DataType dtype_;
  std::int64_t count_;
  std::int64_t size_;
  std::string_view op_;
};

}  // namespace howard::host
