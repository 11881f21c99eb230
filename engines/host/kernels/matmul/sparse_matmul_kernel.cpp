// SPDX-License-Identifier: Apache-2.0
#include "engines/host/kernels/kernels.h"
#include "engines/host/kernels/vector_loops.h"

namespace howard::host {
namespace {

/// The rows of all blocks of a result, [sets, experts, rows, columns].
template <class T>
struct BlockRows {
  const T* a;
  const T* b;
  const T* sparsity;
  T* out;
  std::int64_t experts, rows, inner, columns;
  bool own;  ///< A has a block for each one of the result; otherwise for each set.

  HOWARD_INLINE void run_row(std::int64_t index, float* sums) const {
    const std::int64_t block = index / rows;
    const T* left = a + ((own ? block : block / experts) * rows + index % rows) * inner;
    const T* right = b + block % experts * inner * columns;
    for_each(columns, [=](std::int64_t j) HOWARD_INLINE { sums[j] = 0.0F; });
    const bool is_used = load(sparsity, block) != 0;
    for (std::int64_t i = 0; is_used && i < inner; ++i) {
      const float factor = load(left, i);
      const T* row = right + i * columns;
      for_each(columns, [=](std::int64_t j) HOWARD_INLINE { sums[j] += factor * load(row, j); });
    }
    T* to = out + index * columns;
    for_each(columns, [=](std::int64_t j) HOWARD_INLINE { store(to, j, sums[j]); });
  }
};

}  // namespace

Kernel make_kernel(const SparseMatmulAttributes& attributes, const Call& call,
                   const KernelContext& context) {
  return with_type(call.out().dtype, [&](auto type) -> Kernel {
    using T = typename decltype(type)::type;
    const Shape& result = call.out().shape;
    const BlockRows<T> all{.a = call.in_values<T>(0),
                           .b = call.in_values<T>(1),
                           .sparsity = call.in_values<T>(2),
                           .out = call.out_values<T>(),
                           .experts = result.heads(),
                           .rows = result.rows(),
                           .inner = call.in(0).shape.columns(),
                           .columns = result.columns(),
                           .own = attributes.sparse_a};
    return [=, &pool = context.pool, &workspace = context.workspace, count = rows_of(result)] {
      workspace.require(Bytes(all.columns * 4));
      share(pool, count, row_grain(all.inner * all.columns),
            [&](std::int64_t begin, std::int64_t end, int worker) {
              float* sums = workspace.floats(worker);
              vectorised([&]() HOWARD_INLINE {
                for (std::int64_t row = begin; row < end; ++row) all.run_row(row, sums);
              });
            });
    };
  });
}

}  // namespace howard::host
