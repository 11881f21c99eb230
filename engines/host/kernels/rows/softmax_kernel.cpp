// SPDX-License-Identifier: Apache-2.0
#include "engines/host/kernels/elementwise/float_math.h"
#include "engines/host/kernels/kernels.h"
#include "engines/host/kernels/vector_loops.h"

namespace howard::host {
namespace {

/// Computes exps[i] = exp(x[i] - largest x) and returns their sum. The sum is NaN when an element
/// is NaN, or when all are infinite.
template <class T>
HOWARD_INLINE inline float exponentials(const T* x, std::int64_t columns, float* exps) {
  const float largest = max_of(columns, [=](std::int64_t i) HOWARD_INLINE { return load(x, i); });
  for_each(columns, [=](std::int64_t i) HOWARD_INLINE { exps[i] = exp_of(load(x, i) - largest); });
  return sum_of(columns, [=](std::int64_t i) HOWARD_INLINE { return exps[i]; });
}

template <class T>
Kernel softmax_kernel(const Call& call, const KernelContext& context) {
  const std::int64_t columns = call.out().shape.columns();
  const std::int64_t rows = rows_of(call.out().shape);
  return [=, &pool = context.pool, &workspace = context.workspace, x = call.in_values<T>(0),
          out = call.out_values<T>()] {
    workspace.require(Bytes(columns * 4));
    share(pool, rows, row_grain(columns), [&](std::int64_t begin, std::int64_t end, int worker) {
      float* exps = workspace.floats(worker);
      vectorised([=]() HOWARD_INLINE {
        for (std::int64_t row = begin; row < end; ++row) {
          const float factor = 1.0F / exponentials(x + row * columns, columns, exps);
          T* to = out + row * columns;
          for_each(columns, [=](std::int64_t i) HOWARD_INLINE { store(to, i, exps[i] * factor); });
        }
      });
    });
  };
}

template <class T>
Kernel softmax_gradient(const Call& call, const KernelContext& context) {
  const std::int64_t columns = call.out().shape.columns();
  const std::int64_t rows = rows_of(call.out().shape);
  return [=, &pool = context.pool, y = call.in_values<T>(0), dy = call.in_values<T>(1),
          dx = call.out_values<T>()] {
    share(pool, rows, row_grain(columns), [=](std::int64_t begin, std::int64_t end, int) {
      vectorised([=]() HOWARD_INLINE {
        for (std::int64_t row = begin; row < end; ++row) {
          const T* values = y + row * columns;
          const T* gradients = dy + row * columns;
          T* to = dx + row * columns;
          const float sum = sum_of(columns, [=](std::int64_t i) HOWARD_INLINE {
            return load(values, i) * load(gradients, i);
          });
          for_each(columns, [=](std::int64_t i) HOWARD_INLINE {
            store(to, i, load(values, i) * (load(gradients, i) - sum));
          });
        }
      });
    });
  };
}

}  // namespace

Kernel make_kernel(const SoftmaxAttributes&, const Call& call, const KernelContext& context) {
  return with_type(call.out().dtype, [&](auto type) {
    return softmax_kernel<typename decltype(type)::type>(call, context);
  });
}

Kernel make_kernel(const SoftmaxBackwardAttributes&, const Call& call,
                   const KernelContext& context) {
  return with_type(call.out().dtype, [&](auto type) {
    return softmax_gradient<typename decltype(type)::type>(call, context);
  });
}

}  // namespace howard::host
