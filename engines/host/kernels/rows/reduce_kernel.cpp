// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "engines/host/kernels/kernels.h"
#include "engines/host/kernels/vector_loops.h"

namespace howard::host {
namespace {

/// Views the tensor as [outer, length, inner], which is reduced to [outer, 1, inner].
struct Extents {
  std::int64_t outer = 1;
  std::int64_t length = 1;
  std::int64_t inner = 1;
};

/// If the result keeps the outer dimension, only the heads of the batch are summed.
Extents extents_of(const Shape& shape, Dimension dimension, const Shape& out) {
  switch (dimension) {
    case Dimension::columns:
      return {.outer = rows_of(shape), .length = shape.columns()};
    case Dimension::rows:
      return {.outer = shape.batch(), .length = shape.rows(), .inner = shape.columns()};
    case Dimension::batch:
      if (out.outer() == shape.outer()) {
        return {.outer = shape.outer(),
                .length = shape.heads(),
                .inner = shape.rows() * shape.columns()};
      }
      return {.length = shape.batch(), .inner = shape.rows() * shape.columns()};
    case Dimension::all:
      break;
  }
  return {.length = shape.elements()};
}

/// Has the role of kRowPiece for sums down the rows.
constexpr std::int64_t kColumnPiece = 128;
/// This many columns are summed at once: their sums stay in the first-level cache.
constexpr std::int64_t kColumnsAtOnce = 256;

/// Reduces along the elements of a row.
template <class Combine, class X, class T>
Kernel row_kernel(const X* x, T* out, const Extents& extents, float divisor,
                  const KernelContext& context) {
  const std::int64_t pieces = ceil_div(extents.length, kRowPiece);
  std::vector<float> partial(static_cast<std::size_t>(extents.outer * pieces));
  return [=, &pool = context.pool, partial = std::move(partial)]() mutable {
    float* results = partial.data();
    const std::int64_t grain = row_grain(std::min(extents.length, kRowPiece));
    share(pool, extents.outer * pieces, grain, [&](std::int64_t begin, std::int64_t end, int) {
      vectorised([&]() HOWARD_INLINE {
        for (std::int64_t unit = begin; unit < end; ++unit) {
          const std::int64_t first = unit % pieces * kRowPiece;
          const X* piece = x + unit / pieces * extents.length + first;
          results[unit] = combine_lanes(
              std::min(kRowPiece, extents.length - first), Combine::kNeutral, Combine(),
              [=](std::int64_t i) HOWARD_INLINE { return load(piece, i); });
        }
      });
    });
    for (std::int64_t row = 0; row < extents.outer; ++row) {
      const float* own = results + row * pieces;
      float result = own[0];
      for (std::int64_t i = 1; i < pieces; ++i) result = Combine()(result, own[i]);
      store(out, row, result / divisor);
    }
  };
}

/// Combines to[i] with x[i] of each row, row by row.
template <class T, class Combine>
HOWARD_INLINE inline void combine_rows(const T* x, std::int64_t rows, std::int64_t row_step,
                                       std::int64_t columns, float* to) {
  std::fill(to, to + columns, Combine::kNeutral);
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* values = x + row * row_step;
    for_each(columns,
             [=](std::int64_t i) HOWARD_INLINE { to[i] = Combine()(to[i], load(values, i)); });
  }
}

/// Reduces down the rows of a matrix, in pieces of rows and kColumnsAtOnce columns at a time.
template <class Combine, class X, class T>
Kernel column_kernel(const X* x, T* out, const Extents& extents, float divisor,
                     const KernelContext& context) {
  const std::int64_t pieces = ceil_div(extents.length, kColumnPiece);
  const std::int64_t strips = ceil_div(extents.inner, kColumnsAtOnce);
  std::vector<float> partial(static_cast<std::size_t>(extents.outer * pieces * extents.inner));
  return [=, &pool = context.pool, partial = std::move(partial)]() mutable {
    float* results = partial.data();
    const std::int64_t unit_elements =
        std::min(extents.inner, kColumnsAtOnce) * std::min(extents.length, kColumnPiece);
    share(pool, extents.outer * pieces * strips, row_grain(unit_elements),
          [&](std::int64_t begin, std::int64_t end, int) {
            vectorised([&]() HOWARD_INLINE {
              for (std::int64_t unit = begin; unit < end; ++unit) {
                const std::int64_t column = unit % strips * kColumnsAtOnce;
                const std::int64_t piece = unit / strips;
                const std::int64_t first = piece % pieces * kColumnPiece;
                const std::int64_t row = piece / pieces * extents.length + first;
                combine_rows<X, Combine>(x + row * extents.inner + column,
                                         std::min(kColumnPiece, extents.length - first),
                                         extents.inner,
                                         std::min(kColumnsAtOnce, extents.inner - column),
                                         results + piece * extents.inner + column);
              }
            });
          });
    share(pool, extents.outer * strips, row_grain(pieces * kColumnsAtOnce),
          [&](std::int64_t begin, std::int64_t end, int) {
            vectorised([&]() HOWARD_INLINE {
              for (std::int64_t unit = begin; unit < end; ++unit) {
                const std::int64_t column = unit % strips * kColumnsAtOnce;
                const std::int64_t columns = std::min(kColumnsAtOnce, extents.inner - column);
                const float* first = results + unit / strips * pieces * extents.inner + column;
                float total[kColumnsAtOnce];
                combine_rows<float, Combine>(first, pieces, extents.inner, columns, total);
                T* to = out + unit / strips * extents.inner + column;
                for_each(columns,
                         [&](std::int64_t i) HOWARD_INLINE { store(to, i, total[i] / divisor); });
              }
            });
          });
  };
}

template <class Combine, class X, class T>
Kernel reduce_kernel(const X* x, T* out, const Extents& extents, float divisor,
                     const KernelContext& context) {
  if (extents.inner == 1) return row_kernel<Combine>(x, out, extents, divisor, context);
  return column_kernel<Combine>(x, out, extents, divisor, context);
}

/// Reduces whole numbers, whose sums wrap.
template <class T>
Kernel whole_kernel(const T* x, T* out, const Extents& extents, bool max,
                    const KernelContext& context) {
  return [=, &pool = context.pool] {
    share(pool, extents.outer * extents.inner, row_grain(extents.length),
          [&](std::int64_t begin, std::int64_t end, int) {
            for (std::int64_t at = begin; at < end; ++at) {
              const std::int64_t first =
                  at / extents.inner * extents.length * extents.inner + at % extents.inner;
              std::int64_t total = max ? load(x, first) : 0;
              for (std::int64_t i = 0; i < extents.length; ++i) {
                const std::int64_t value = load(x, first + i * extents.inner);
                total = max ? std::max(total, value) : total + value;
              }
              store(out, at, total);
            }
          });
  };
}

}  // namespace

Kernel make_kernel(const ReduceAttributes& attributes, const Call& call,
                   const KernelContext& context) {
  const Extents extents = extents_of(call.in(0).shape, attributes.dimension, call.out().shape);
  if (call.in(0).is_whole()) {
    return with_whole_type(call.in(0).dtype, [&](auto type) {
      using T = Whole<typename decltype(type)::type>;
      return whole_kernel(call.in_values<T>(0), call.out_values<T>(), extents,
                          attributes.reduction == Reduction::max, context);
    });
  }
  return with_type(call.in(0).dtype, [&](auto from) {
    return with_type(call.out().dtype, [&](auto to) {
      const auto* x = call.in_values<typename decltype(from)::type>(0);
      auto* out = call.out_values<typename decltype(to)::type>();
      if (attributes.reduction == Reduction::max) {
        return reduce_kernel<Max>(x, out, extents, 1.0F, context);
      }
      const bool mean = attributes.reduction == Reduction::mean;
      const float divisor = mean ? static_cast<float>(extents.length) : 1.0F;
      return reduce_kernel<Sum>(x, out, extents, divisor, context);
    });
  });
}

}  // namespace howard::host
