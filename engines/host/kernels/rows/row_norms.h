// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/host/kernels/kernels.h"
#include "engines/host/kernels/vector_loops.h"

namespace howard::host {

// The norms of rows, layernorm and rms_norm, have these in common.

/// Says whether `row` has one number for each column of `x`.
inline bool is_row_of(const TensorSpec& row, const TensorSpec& x) {
  return row.shape.elements() == x.shape.columns();
}

/// Says whether `statistic` has one number for each row of `x`.
inline bool is_statistic_of(const TensorSpec& statistic, const TensorSpec& x) {
  return statistic.shape.elements() == rows_of(x.shape);
}

/// Returns a kernel that calls rows.run_row() for each of `count` rows, which the pool shares.
template <class Rows>
Kernel rows_kernel(const Rows& rows, std::int64_t count, const KernelContext& context) {
  return [=, &pool = context.pool] {
    share(pool, count, row_grain(rows.columns), [&](std::int64_t begin, std::int64_t end, int) {
      vectorised([&]() HOWARD_INLINE {
        for (std::int64_t row = begin; row < end; ++row) rows.run_row(row);
      });
    });
  };
}

}  // namespace howard::host
