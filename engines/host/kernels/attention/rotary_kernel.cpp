// SPDX-License-Identifier: Apache-2.0
#include "engines/host/kernels/kernels.h"
#include "engines/host/kernels/vector_loops.h"

namespace howard::host {
namespace {

/// Rotates rows of [n, h, s, d], each with the row of the tables of its place in the sequence.
template <class T>
struct Rotation {
  const T* x;
  const T* cosines;
  const T* sines;
  T* out;
  std::int64_t length;  ///< The length of the sequence.
  std::int64_t columns;

  /// Columns 2 i and 2 i + 1 are the coordinates of a point.
  HOWARD_INLINE void turn_pairs(std::int64_t row) const {
    const T* from = x + row * columns;
    const T* c = cosines + row % length * columns;
    const T* s = sines + row % length * columns;
    T* to = out + row * columns;
    for_each(columns / 2, [=](std::int64_t i) HOWARD_INLINE {
      const float a = load(from, 2 * i);
      const float b = load(from, 2 * i + 1);
      store(to, 2 * i, a * load(c, 2 * i) - b * load(s, 2 * i));
      store(to, 2 * i + 1, b * load(c, 2 * i + 1) + a * load(s, 2 * i + 1));
    });
  }

  /// Columns i and i + d / 2 are the coordinates of a point.
  HOWARD_INLINE void turn_halves(std::int64_t row) const {
    const std::int64_t half = columns / 2;
    const T* from = x + row * columns;
    const T* c = cosines + row % length * columns;
    const T* s = sines + row % length * columns;
    T* to = out + row * columns;
    for_each(half, [=](std::int64_t i) HOWARD_INLINE {
      const float a = load(from, i);
      const float b = load(from, i + half);
      store(to, i, a * load(c, i) - b * load(s, i));
      store(to, i + half, b * load(c, i + half) + a * load(s, i + half));
    });
  }
};

}  // namespace

Kernel make_kernel(const RotaryEmbeddingAttributes& attributes, const Call& call,
                   const KernelContext& context) {
  const Shape& x = call.in(0).shape;
  return with_type(call.out().dtype, [&](auto type) -> Kernel {
    using T = typename decltype(type)::type;
    const Rotation<T> rows{.x = call.in_values<T>(0),
                           .cosines = call.in_values<T>(1),
                           .sines = call.in_values<T>(2),
                           .out = call.out_values<T>(),
                           .length = x.rows(),
                           .columns = x.columns()};
    return [=, &pool = context.pool, count = rows_of(x),
            pairs = attributes.style == RotaryStyle::pairs] {
      share(pool, count, row_grain(rows.columns), [&](std::int64_t begin, std::int64_t end, int) {
        vectorised([&]() HOWARD_INLINE {
          for (std::int64_t row = begin; row < end; ++row) {
            if (pairs) {
              rows.turn_pairs(row);
            } else {
              rows.turn_halves(row);
            }
          }
        });
      });
    };
  });
}

}  // namespace howard::host
