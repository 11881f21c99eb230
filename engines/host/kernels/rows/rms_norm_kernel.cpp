// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "engines/host/kernels/rows/row_norms.h"

namespace howard::host {
namespace {

template <class T>
struct RmsForward {
  const T* x;
  const T* gamma;  ///< Null if there is no scale.
  T* out;
  T* rms;  ///< Null if it is not wanted.
  std::int64_t columns;
  float epsilon;

  HOWARD_INLINE void run_row(std::int64_t row) const {
    const T* own = x + row * columns;
    const float squares = sum_of(columns, [=](std::int64_t i) HOWARD_INLINE {
      const float value = load(own, i);
      return value * value;
    });
    const float root = std::sqrt(squares / static_cast<float>(columns) + epsilon);
    const float scale = 1.0F / root;
    T* to = out + row * columns;
    if (gamma == nullptr) {
      for_each(columns, [=](std::int64_t i) HOWARD_INLINE { store(to, i, load(own, i) * scale); });
    } else {
      for_each(columns, [=, g = gamma](std::int64_t i)
                            HOWARD_INLINE { store(to, i, load(own, i) * scale * load(g, i)); });
    }
    if (rms != nullptr) store(rms, row, root);
  }
};

template <class T>
struct RmsBackward {
  const T* x;
  const T* gamma;
  const T* rms;
  const T* dy;
  T* dx;
  T* dgamma;
  std::int64_t columns;

  HOWARD_INLINE void run_row(std::int64_t row) const {
    const std::int64_t first = row * columns;
    const T* own = x + first;
    const T* gradient = dy + first;
    const T* g = gamma;
    const float scale = 1.0F / load(rms, row);
    const float sum = sum_of(columns, [=](std::int64_t i) HOWARD_INLINE {
      return load(gradient, i) * load(g, i) * load(own, i);
    });
    const float share = sum * scale * scale / static_cast<float>(columns);
    for_each(columns,
             [=, dx_row = dx + first, dgamma_row = dgamma + first](std::int64_t i) HOWARD_INLINE {
               const float value = load(own, i);
               const float incoming = load(gradient, i);
               store(dx_row, i, (incoming * load(g, i) - value * share) * scale);
               store(dgamma_row, i, incoming * value * scale);
             });
  }
};

Kernel make_rms_norm(float epsilon, bool keeps, const Call& call, const KernelContext& context) {
  const TensorSpec& x = call.in(0);
  const bool scaled = call.inputs() == 2;
  return with_type(x.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const RmsForward<T> rows{.x = call.in_values<T>(0),
                             .gamma = scaled ? call.in_values<T>(1) : nullptr,
                             .out = call.out_values<T>(),
                             .rms = keeps ? call.out_values<T>(1) : nullptr,
                             .columns = x.shape.columns(),
                             .epsilon = epsilon};
    return rows_kernel(rows, rows_of(x.shape), context);
  });
}

}  // namespace

Kernel make_kernel(const RmsNormAttributes& attributes, const Call& call,
                   const KernelContext& context) {
  return make_rms_norm(attributes.epsilon, false, call, context);
}

Kernel make_kernel(const TtmlRmsNormAttributes& attributes, const Call& call,
                   const KernelContext& context) {
  return make_rms_norm(attributes.epsilon, true, call, context);
}

Kernel make_kernel(const RmsNormBackwardAttributes&, const Call& call,
                   const KernelContext& context) {
  const TensorSpec& x = call.in(0);
  return with_type(x.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const RmsBackward<T> rows{.x = call.in_values<T>(0),
                              .gamma = call.in_values<T>(1),
                              .rms = call.in_values<T>(2),
                              .dy = call.in_values<T>(3),
                              .dx = call.out_values<T>(0),
                              .dgamma = call.out_values<T>(1),
                              .columns = x.shape.columns()};
    return rows_kernel(rows, rows_of(x.shape), context);
  });
}

}  // namespace howard::host
