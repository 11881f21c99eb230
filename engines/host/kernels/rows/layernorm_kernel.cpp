// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "engines/host/kernels/rows/row_norms.h"

namespace howard::host {
namespace {

template <class T>
struct Forward {
  const T* x;
  const T* gamma;  ///< Null if there is no scale.
  const T* beta;
  T* out;
  T* mean;  ///< Null if it is not wanted.
  T* rstd;
  std::int64_t columns;
  float epsilon;

  HOWARD_INLINE void run_row(std::int64_t row) const {
    const T* own = x + row * columns;
    const auto n = static_cast<float>(columns);
    const float center =
        sum_of(columns, [=](std::int64_t i) HOWARD_INLINE { return load(own, i); }) / n;
    const float variance = sum_of(columns,
                                  [=](std::int64_t i) HOWARD_INLINE {
                                    const float difference = load(own, i) - center;
                                    return difference * difference;
                                  }) /
                           n;
    const float scale = 1.0F / std::sqrt(variance + epsilon);
    T* to = out + row * columns;
    if (gamma == nullptr) {
      for_each(columns, [=](std::int64_t i)
                            HOWARD_INLINE { store(to, i, (load(own, i) - center) * scale); });
    } else {
      for_each(columns, [=, g = gamma, b = beta](std::int64_t i) HOWARD_INLINE {
        store(to, i, (load(own, i) - center) * scale * load(g, i) + load(b, i));
      });
    }
    if (mean == nullptr) return;
    store(mean, row, center);
    store(rstd, row, scale);
  }
};

template <class T>
struct Backward {
  const T* x;
  const T* gamma;
  const T* mean;
  const T* rstd;
  const T* dy;
  T* dx;
  T* dgamma;
  T* dbeta;
  std::int64_t columns;

  HOWARD_INLINE void run_row(std::int64_t row) const {
    const std::int64_t first = row * columns;
    const T* own = x + first;
    const T* gradient = dy + first;
    const T* g = gamma;
    const float center = load(mean, row);
    const float scale = load(rstd, row);
    const auto n = static_cast<float>(columns);
    const float sum =
        sum_of(columns,
               [=](std::int64_t i) HOWARD_INLINE { return load(gradient, i) * load(g, i); }) /
        n;
    const float product = sum_of(columns,
                                 [=](std::int64_t i) HOWARD_INLINE {
                                   return load(gradient, i) * load(g, i) * (load(own, i) - center);
                                 }) *
                          scale / n;
    for_each(columns, [=, dx_row = dx + first, dgamma_row = dgamma + first,
                       dbeta_row = dbeta + first](std::int64_t i) HOWARD_INLINE {
      const float normal = (load(own, i) - center) * scale;
      const float incoming = load(gradient, i);
      store(dx_row, i, (incoming * load(g, i) - sum - normal * product) * scale);
      store(dgamma_row, i, incoming * normal);
      store(dbeta_row, i, incoming);
    });
  }
};

/// Makes the kernel of x alone, or of one with a scale that keeps the statistics.
Kernel make_layernorm(float epsilon, bool scaled, const Call& call, const KernelContext& context) {
  const TensorSpec& x = call.in(0);
  return with_type(x.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const Forward<T> rows{.x = call.in_values<T>(0),
                          .gamma = scaled ? call.in_values<T>(1) : nullptr,
                          .beta = scaled ? call.in_values<T>(2) : nullptr,
                          .out = call.out_values<T>(),
                          .mean = scaled ? call.out_values<T>(1) : nullptr,
                          .rstd = scaled ? call.out_values<T>(2) : nullptr,
                          .columns = x.shape.columns(),
                          .epsilon = epsilon};
    return rows_kernel(rows, rows_of(x.shape), context);
  });
}

}  // namespace

Kernel make_kernel(const LayernormAttributes& attributes, const Call& call,
                   const KernelContext& context) {
  return make_layernorm(attributes.epsilon, false, call, context);
}

Kernel make_kernel(const TtmlLayernormAttributes& attributes, const Call& call,
                   const KernelContext& context) {
  call.require(call.inputs() == 3, "x, gamma and beta");
  return make_layernorm(attributes.epsilon, true, call, context);
}

Kernel make_kernel(const LayernormBackwardAttributes&, const Call& call,
                   const KernelContext& context) {
  const TensorSpec& x = call.in(0);
  return with_type(x.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const Backward<T> rows{.x = call.in_values<T>(0),
                           .gamma = call.in_values<T>(1),
                           .mean = call.in_values<T>(2),
                           .rstd = call.in_values<T>(3),
                           .dy = call.in_values<T>(4),
                           .dx = call.out_values<T>(0),
                           .dgamma = call.out_values<T>(1),
                           .dbeta = call.out_values<T>(2),
                           .columns = x.shape.columns()};
    return rows_kernel(rows, rows_of(x.shape), context);
  });
}

}  // namespace howard::host
