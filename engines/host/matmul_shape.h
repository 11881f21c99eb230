// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

#include "engines/device/tensor_spec.h"

namespace howard::host {

/// C[batch, m, n] = A[batch, m, k] B[batch, k, n], plus a row [n] if there is a bias.
struct MatmulShape {
  std::int64_t batch = 1;
  std::int64_t m = 0;
  std::int64_t k = 0;
  std::int64_t n = 0;
  bool one_a = false;  ///< A has no batch: the same for all. So may B, but not both.
  bool one_b = false;
  bool transpose_a = false;  ///< Stored as [batch, k, m].
  bool transpose_b = false;  ///< Stored as [batch, n, k].
  bool bias = false;
  DataType dtype = DataType::bfloat16;   ///< Of A, B and the bias: bfloat16 or float32.
  DataType result = DataType::bfloat16;  ///< Of C: the same, or float32.

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
