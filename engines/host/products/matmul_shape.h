// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "engines/device/tensor_spec.h"

namespace howard::host {

/// C[batch, m, n] = A[batch, m, k] B[batch, k, n], plus a row [n] if there is a bias. Of bfloat16
/// and float32, which may meet: what they are multiplied in, and where, is MatmulPlan's affair.
struct MatmulShape {
  std::int64_t batch = 1;
  std::int64_t m = 0;
  std::int64_t k = 0;
  std::int64_t n = 0;
  bool one_a = false;  ///< A has no batch: the same for all. So may B, but not both.
  bool one_b = false;
  bool transpose_a = false;  ///< Stored as [batch, k, m].
  bool transpose_b = false;  ///< Stored as [batch, n, k].
  DataType a = DataType::bfloat16;
  DataType b = DataType::bfloat16;
  std::optional<DataType> bias;          ///< That of A or of B.
  DataType result = DataType::bfloat16;  ///< What C is rounded to.
  bool wide_result = false;              ///< C is held as float32 all the same.
  bool stores_result = true;             ///< Or C is only for the pass that follows.

  Flops flops() const { return Flops(2 * batch * m * k * n); }

  friend auto operator<=>(const MatmulShape&, const MatmulShape&) = default;
};

struct MatmulOperands {
  const std::byte* a = nullptr;
  const std::byte* b = nullptr;
  const std::byte* bias = nullptr;
  std::byte* c = nullptr;  ///< Overlaps no other.
};

/// Less than this is not worth a second thread, which takes 0.3 us to give it something.
inline constexpr Flops kSmallProduct(std::int64_t{128} * 1024);

}  // namespace howard::host
