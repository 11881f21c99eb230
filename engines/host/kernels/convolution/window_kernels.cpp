// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <vector>

#include "engines/host/kernels/kernels.h"
#include "engines/host/kernels/vector_loops.h"
#include "engines/program/convolution_value.h"
#include "engines/program/eltwise_value.h"

namespace howard::host {
namespace {

/// Returns a kernel that calls fill(row, values of x, values of the result) for each row of the
/// result. `make` is called with the type of an element and returns `fill`.
template <class Make>
Kernel make_row_kernel(const Call& call, const KernelContext& context, const Make& make) {
  const Shape& out = call.out().shape;
  return with_type(call.out().dtype, [&](auto type) -> Kernel {
    using T = typename decltype(type)::type;
    return [fill = make(type), x = call.in_values<T>(0), to = call.out_values<T>(),
            &pool = context.pool, rows = rows_of(out), columns = out.columns()] {
      share(pool, rows, row_grain(columns), [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t row = begin; row < end; ++row) fill(row, x, to + row * columns);
      });
    };
  });
}

/// Returns what reads numbers of an operand's values.
template <class T>
auto numbers(const T* values) {
  return [values](std::int64_t i) { return load(values, i); };
}

}  // namespace

Kernel make_kernel(const Conv2dAttributes& op, const Call& call, const KernelContext& context) {
  return make_row_kernel(call, context, [&](auto type) {
    using T = typename decltype(type)::type;
    return
        [op, channels = call.in(0).shape.columns(), columns = call.out().shape.columns(),
         weights = call.in_values<T>(1), bias = call.inputs() > 2 ? call.in_values<T>(2) : nullptr](
            std::int64_t stop, const T* x, T* out) {
          std::vector<float> sums(static_cast<std::size_t>(columns));
          for_each_seen(op.window, stop, [&](std::int64_t at, std::int64_t place) {
            for (std::int64_t c = 0; c < channels; ++c) {
              const float one = load(x, place * channels + c);
              const T* row = weights + (at * channels + c) * columns;
              float* const to = sums.data();
              for_each(columns, [=](std::int64_t k) HOWARD_INLINE { to[k] += one * load(row, k); });
            }
          });
          for (std::int64_t k = 0; k < columns; ++k) {
            float value = sums[static_cast<std::size_t>(k)];
            if (bias != nullptr) value += load(bias, k);
            if (op.activation) {
              const auto [one, two] = op.activation->numbers;
              value = eltwise_function<float>(op.activation->function)({value, 0, 0, one, two});
            }
            store(out, k, value);
          }
        };
  });
}

Kernel make_kernel(const HaloAttributes&, const Call& call, const KernelContext& context) {
  return make_row_kernel(call, context, [&](auto type) {
    using T = typename decltype(type)::type;
    return [columns = call.out().shape.columns()](std::int64_t row, const T* x, T* out) {
      std::copy_n(x + row * columns, columns, out);
    };
  });
}

Kernel make_kernel(const Pool2dAttributes& op, const Call& call, const KernelContext& context) {
  return make_row_kernel(call, context, [&](auto type) {
    using T = typename decltype(type)::type;
    return [op, channels = call.out().shape.columns()](std::int64_t stop, const T* x, T* out) {
      for (std::int64_t c = 0; c < channels; ++c) {
        store(out, c, pool_value<float>(op, channels, stop, c, numbers(x)));
      }
    };
  });
}

Kernel make_kernel(const UpsampleAttributes& op, const Call& call, const KernelContext& context) {
  return make_row_kernel(call, context, [&](auto type) {
    using T = typename decltype(type)::type;
    return
        [op, from = call.in(0).shape, to = call.out().shape](std::int64_t row, const T* x, T* out) {
          for (std::int64_t c = 0; c < to.columns(); ++c) {
            store(out, c,
                  upsample_value<float>(op, from, row / to.rows(), row % to.rows(), c, numbers(x)));
          }
        };
  });
}

Kernel make_kernel(const FoldAttributes& op, const Call& call, const KernelContext& context) {
  return make_row_kernel(call, context, [&](auto type) {
    using T = typename decltype(type)::type;
    return [op, from = call.in(0).shape, columns = call.out().shape.columns()](std::int64_t place,
                                                                               const T* x, T* out) {
      for (std::int64_t i = 0; i < columns; ++i) out[i] = x[folded_from(op, from, place, i)];
    };
  });
}

Kernel make_kernel(const GroupNormAttributes& op, const Call& call, const KernelContext& context) {
  return with_type(call.out().dtype, [&](auto type) -> Kernel {
    using T = typename decltype(type)::type;
    return [op, shape = call.out().shape, x = call.in_values<T>(0), out = call.out_values<T>(),
            gamma = call.inputs() > 1 ? call.in_values<T>(1) : nullptr,
            beta = call.inputs() > 2 ? call.in_values<T>(2) : nullptr, &pool = context.pool] {
      const auto norm = [&](std::int64_t image, std::int64_t group) {
        const auto [mean, scale] = group_moments<float>(op, shape, image, group, numbers(x));
        const std::int64_t width = shape.columns() / op.groups;
        for (std::int64_t row = 0; row < shape.rows(); ++row) {
          for (std::int64_t i = group * width; i < (group + 1) * width; ++i) {
            const std::int64_t at = (image * shape.rows() + row) * shape.columns() + i;
            float value = (load(x, at) - mean) * scale;
            if (gamma != nullptr) value *= load(gamma, i);
            if (beta != nullptr) value += load(beta, i);
            store(out, at, value);
          }
        }
      };
      share(pool, shape.outer() * op.groups, 1, [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t i = begin; i < end; ++i) norm(i / op.groups, i % op.groups);
      });
    };
  });
}

Kernel make_kernel(const BatchNormAttributes& op, const Call& call, const KernelContext& context) {
  return make_row_kernel(call, context, [&](auto type) {
    using T = typename decltype(type)::type;
    const auto given = [&](std::size_t i) -> const T* {
      return i < call.inputs() ? call.in_values<T>(i) : nullptr;
    };
    return [op, shape = call.out().shape, mean = given(1), variance = given(2), gamma = given(3),
            beta = given(4)](std::int64_t row, const T* x, T* out) {
      const std::int64_t channel = row / shape.rows() % shape.heads();
      const float center = load(mean, channel);
      float scale = 1 / std::sqrt(load(variance, channel) + op.epsilon);
      if (gamma != nullptr) scale *= load(gamma, channel);
      const float shift = beta == nullptr ? 0.0F : load(beta, channel);
      const T* const own = x + row * shape.columns();
      for_each(shape.columns(), [=](std::int64_t i) HOWARD_INLINE {
        store(out, i, (load(own, i) - center) * scale + shift);
      });
    };
  });
}

}  // namespace howard::host
