// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "engines/host/kernels/elementwise/float_math.h"
#include "engines/host/kernels/indices.h"
#include "engines/host/kernels/kernels.h"
#include "engines/host/kernels/vector_loops.h"

namespace howard::host {
namespace {

/// The largest logit of a row, and the sum of exp(logit - largest).
struct RowSum {
  float largest;
  float sum;
};

template <class T>
HOWARD_INLINE inline RowSum sum_exponentials(const T* logits, std::int64_t columns) {
  const float largest =
      max_of(columns, [=](std::int64_t i) HOWARD_INLINE { return load(logits, i); });
  const float sum = sum_of(
      columns, [=](std::int64_t i) HOWARD_INLINE { return exp_of(load(logits, i) - largest); });
  return {largest, sum};
}

template <class T>
Kernel loss_kernel(const Call& call, const KernelContext& context) {
  const std::int64_t columns = call.in(0).shape.columns();
  const Indices targets(call, 1, columns, "cross_entropy");
  return [=, &pool = context.pool, logits = call.in_values<T>(0), out = call.out_values<T>()] {
    targets.require_in_range();
    share(pool, targets.count(), row_grain(columns),
          [&](std::int64_t begin, std::int64_t end, int) {
            vectorised([&]() HOWARD_INLINE {
              for (std::int64_t row = begin; row < end; ++row) {
                const T* own = logits + row * columns;
                const auto [largest, sum] = sum_exponentials(own, columns);
                // Both differences are small where the loss is small; the larger one is added last.
                store(out, row, std::log(sum) + (largest - load(own, targets.at(row))));
              }
            });
          });
  };
}

template <class T>
Kernel cross_entropy_gradient(float scale, const Call& call, const KernelContext& context) {
  const std::int64_t columns = call.in(0).shape.columns();
  const Indices targets(call, 1, columns, "cross_entropy_backward");
  return [=, &pool = context.pool, &workspace = context.workspace, logits = call.in_values<T>(0),
          out = call.out_values<T>()] {
    targets.require_in_range();
    workspace.require(Bytes(columns * 4));
    share(pool, targets.count(), row_grain(columns),
          [&](std::int64_t begin, std::int64_t end, int worker) {
            float* exps = workspace.floats(worker);
            vectorised([&]() HOWARD_INLINE {
              for (std::int64_t row = begin; row < end; ++row) {
                const T* own = logits + row * columns;
                T* to = out + row * columns;
                const float largest =
                    max_of(columns, [=](std::int64_t i) HOWARD_INLINE { return load(own, i); });
                for_each(columns, [=](std::int64_t i)
                                      HOWARD_INLINE { exps[i] = exp_of(load(own, i) - largest); });
                const float sum =
                    sum_of(columns, [=](std::int64_t i) HOWARD_INLINE { return exps[i]; });
                const std::int64_t target = targets.at(row);
                // `others` is the sum without the target. It gives softmax - 1 at the target
                // without cancellation near 1.
                const float others = sum - exps[target];
                const float factor = scale / sum;
                for_each(columns,
                         [=](std::int64_t i) HOWARD_INLINE { store(to, i, exps[i] * factor); });
                store(to, target, -others * factor);
              }
            });
          });
  };
}

/// Takes minus the logarithm at each target.
template <class T>
Kernel nll_kernel(const Call& call, const KernelContext& context) {
  const std::int64_t columns = call.in(0).shape.columns();
  const Indices targets(call, 1, columns, "nll_loss");
  return [=, &pool = context.pool, logarithms = call.in_values<T>(0), out = call.out_values<T>()] {
    targets.require_in_range();
    share(pool, targets.count(), kRowPiece, [=](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t row = begin; row < end; ++row) {
        store(out, row, -load(logarithms, row * columns + targets.at(row)));
      }
    });
  };
}

template <class T>
Kernel nll_gradient(float scale, const Call& call, const KernelContext& context) {
  const std::int64_t columns = call.in(0).shape.columns();
  const Indices targets(call, 1, columns, "nll_loss_backward");
  return [=, &pool = context.pool, out = call.out_values<T>()] {
    targets.require_in_range();
    share(pool, targets.count(), row_grain(columns),
          [=](std::int64_t begin, std::int64_t end, int) {
            for (std::int64_t row = begin; row < end; ++row) {
              std::fill_n(out + row * columns, columns, T{});
              store(out, row * columns + targets.at(row), -scale);
            }
          });
  };
}

}  // namespace

Kernel make_kernel(const CrossEntropyAttributes& attributes, const Call& call,
                   const KernelContext& context) {
  return with_type(call.out().dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    return attributes.of_logarithms ? nll_kernel<T>(call, context) : loss_kernel<T>(call, context);
  });
}

Kernel make_kernel(const CrossEntropyBackwardAttributes& attributes, const Call& call,
                   const KernelContext& context) {
  return with_type(call.out().dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    return attributes.of_logarithms ? nll_gradient<T>(attributes.scale, call, context)
                                    : cross_entropy_gradient<T>(attributes.scale, call, context);
  });
}

}  // namespace howard::host
