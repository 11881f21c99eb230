// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "engines/program/tensor_spec.h"

namespace howard::host {

/// C[batch, m, n] = A[batch, m, k] B[batch, k, n], plus a row [n] if there is a bias. The operands
/// are bfloat16 or float32 and may be mixed; ProductPlan decides in which type they are multiplied.
struct MatmulShape {
  std::int64_t batch = 1;
  std::int64_t m = 0;
  std::int64_t k = 0;
  std::int64_t n = 0;
  /// If true, A has no batch and is the same for all. This may hold for A or B, but not both.
  bool one_a = false;
  bool one_b = false;
  bool transpose_a = false;  ///< True if A is stored as [batch, k, m].
  bool transpose_b = false;  ///< True if B is stored as [batch, n, k].
  DataType a = DataType::bfloat16;
  DataType b = DataType::bfloat16;
  std::optional<DataType> bias;          ///< The data type of the bias, which is that of A or of B.
  DataType result = DataType::bfloat16;  ///< The type that C is rounded to.
  bool wide_result = false;              ///< True if C is held as float32 all the same.
  /// If false, C is not stored; only the pass that follows uses it.
  bool stores_result = true;

  Flops flops() const { return Flops(2 * batch * m * k * n); }

  friend auto operator<=>(const MatmulShape&, const MatmulShape&) = default;
};

struct MatmulOperands {
  const std::byte* a = nullptr;
  const std::byte* b = nullptr;
  const std::byte* bias = nullptr;
  std::byte* c = nullptr;  ///< Must not overlap any other operand.
};

/// A product with less work than this is not worth a second thread: handing over work takes 0.3 us.
inline constexpr Flops kSmallProduct(std::int64_t{128} * 1024);

}  // namespace howard::host
