// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <vector>

#include "engines/host/kernels/indices.h"
#include "engines/host/kernels/kernels.h"
#include "engines/host/kernels/vector_loops.h"

namespace howard::host {
namespace {

/// Returns the place of the first of the largest numbers.
template <class T>
std::uint32_t place_of_largest(const T* row, std::int64_t columns) {
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < columns; ++i) {
    if (load(row, i) > load(row, best)) best = i;
  }
  return static_cast<std::uint32_t>(best);
}

/// The places of a row in the order of their numbers, as far as they are wanted.
template <class T>
void sort_first(const T* row, std::int64_t first, bool largest,
                std::vector<std::uint32_t>& places) {
  std::iota(places.begin(), places.end(), 0U);
  std::ranges::partial_sort(places, places.begin() + first, [&](std::uint32_t a, std::uint32_t b) {
    const auto left = load(row, a), right = load(row, b);
    if (left != right) return largest ? left > right : left < right;
    return a < b;
  });
}

}  // namespace

Kernel make_kernel(const ArgmaxAttributes&, const Call& call, const KernelContext& context) {
  return with_number(call.in(0).dtype, [&](auto type) -> Kernel {
    using T = typename decltype(type)::type;
    return [x = call.in_values<T>(0), places = call.out_values<std::uint32_t>(),
            rows = rows_of(call.in(0).shape), columns = call.in(0).shape.columns(),
            &pool = context.pool] {
      share(pool, rows, row_grain(columns), [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t i = begin; i < end; ++i) {
          places[i] = place_of_largest(x + i * columns, columns);
        }
      });
    };
  });
}

Kernel make_kernel(const TopkAttributes& attributes, const Call& call,
                   const KernelContext& context) {
  return with_number(call.in(0).dtype, [&](auto type) -> Kernel {
    using T = typename decltype(type)::type;
    return [x = call.in_values<T>(0), values = call.out_values<T>(0), places = call.out_values(1),
            kind = call.out(1).dtype, rows = rows_of(call.in(0).shape),
            columns = call.in(0).shape.columns(), attributes, &pool = context.pool] {
      share(pool, rows, row_grain(columns), [&](std::int64_t begin, std::int64_t end, int) {
        std::vector<std::uint32_t> order(static_cast<std::size_t>(columns));
        for (std::int64_t i = begin; i < end; ++i) {
          sort_first(x + i * columns, attributes.k, attributes.largest, order);
          for (std::int64_t j = 0; j < attributes.k; ++j) {
            const std::uint32_t place = order[static_cast<std::size_t>(j)];
            values[i * attributes.k + j] = x[i * columns + place];
            write_whole(kind, place, places + (i * attributes.k + j) * element_bytes(kind));
          }
        }
      });
    };
  });
}

Kernel make_kernel(const SortAttributes& attributes, const Call& call,
                   const KernelContext& context) {
  const TopkAttributes all{.k = call.in(0).shape.columns(), .largest = attributes.descending};
  return make_kernel(all, call, context);
}

Kernel make_kernel(const ScatterAttributes&, const Call& call, const KernelContext& context) {
  const std::int64_t columns = call.in(0).shape.columns();
  const std::int64_t placed = call.in(1).shape.columns();
  const Indices places(call, 1, columns, "scatter");
  return with_bits(call.out().dtype, [&](auto type) -> Kernel {
    using T = typename decltype(type)::type;
    return [=, x = call.in_values<T>(0), source = call.in_values<T>(2), out = call.out_values<T>(),
            rows = rows_of(call.in(0).shape), &pool = context.pool] {
      places.require_in_range();
      share(pool, rows, row_grain(columns), [&](std::int64_t begin, std::int64_t end, int) {
        if (out != x) std::copy(x + begin * columns, x + end * columns, out + begin * columns);
        for (std::int64_t i = begin * placed; i < end * placed; ++i) {
          out[i / placed * columns + places.at(i)] = source[i];
        }
      });
    };
  });
}

Kernel make_kernel(const PlusOneAttributes&, const Call& call, const KernelContext&) {
  return with_number(call.in(0).dtype, [&](auto type) -> Kernel {
    using T = typename decltype(type)::type;
    return [x = call.in_values<T>(0), result = call.out_values<T>(),
            count = call.in(0).shape.elements()] {
      for (std::int64_t i = 0; i < count; ++i) store(result, i, load(x, i) + 1);
    };
  });
}

}  // namespace howard::host
