// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/host/kernels/kernels.h"
#include "engines/host/kernels/vector_loops.h"

namespace howard::host {

// The norms of rows, layernorm and rms_norm, have these in common.

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
