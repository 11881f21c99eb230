// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <vector>

#include "engines/host/kernels/indices.h"
#include "engines/host/kernels/kernels.h"
#include "engines/host/kernels/vector_loops.h"

namespace howard::host {
namespace {

/// Sorts the positions by index. It keeps its memory for the next time.
class PositionsByIndex {
 public:
  PositionsByIndex(std::int64_t positions, std::int64_t indices)
      : begins_(static_cast<std::size_t>(indices) + 2),
        positions_(static_cast<std::size_t>(positions)) {}

  void sort(const Indices& indices) {
    // Count one place too late, so that the loop that fills moves each begin to where it belongs.
    std::ranges::fill(begins_, 0);
    for (std::int64_t i = 0; i < indices.count(); ++i) ++begins_[place(indices.at(i)) + 2];
    for (std::size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
    for (std::int64_t i = 0; i < indices.count(); ++i) {
      positions_[static_cast<std::size_t>(begins_[place(indices.at(i)) + 1]++)] = i;
    }
  }

  /// Returns the positions of an index in rising order.
  std::span<const std::int64_t> of(std::int64_t index) const {
    return {positions_.data() + begins_[place(index)],
            positions_.data() + begins_[place(index) + 1]};
  }

 private:
  static std::size_t place(std::int64_t index) { return static_cast<std::size_t>(index); }

  std::vector<std::int64_t> begins_;
  std::vector<std::int64_t> positions_;
};

/// This many rows are added one after another before their sum is added to the other sums, as in
/// reduce_kernel.cpp.
constexpr std::size_t kRowsAtOnce = 128;
constexpr std::int64_t kGradientColumns = 128;

/// Computes to = the sum of the rows of x at `positions`. Rows are `step` elements apart, and the
/// first `columns` of each are added.
template <class T>
HOWARD_INLINE inline void sum_rows(const T* x, std::int64_t step,
                                   std::span<const std::int64_t> positions, std::int64_t columns,
                                   T* to) {
  float total[kGradientColumns] = {};
  for (std::size_t first = 0; first < positions.size(); first += kRowsAtOnce) {
    float part[kGradientColumns] = {};
    const std::size_t last = std::min(first + kRowsAtOnce, positions.size());
    for (std::size_t i = first; i < last; ++i) {
      const T* row = x + positions[i] * step;
      for_each(columns,
               [&](std::int64_t column) HOWARD_INLINE { part[column] += load(row, column); });
    }
    for_each(columns, [&](std::int64_t column) HOWARD_INLINE { total[column] += part[column]; });
  }
  for_each(columns, [&](std::int64_t column) HOWARD_INLINE { store(to, column, total[column]); });
}

template <class T>
Kernel embedding_gradient(const Call& call, const KernelContext& context) {
  const std::int64_t rows = call.out().shape.rows();
  const std::int64_t columns = call.out().shape.columns();
  const Indices indices(call, 0, rows, "embedding_backward");
  const std::int64_t strips = ceil_div(columns, kGradientColumns);
  return [=, &pool = context.pool, dy = call.in_values<T>(1), out = call.out_values<T>(),
          places = PositionsByIndex(indices.count(), rows)]() mutable {
    indices.require_in_range();
    places.sort(indices);
    // Assume that every index occurs equally often.
    const std::int64_t row_elements = columns * ceil_div(indices.count(), rows);
    share(pool, rows * strips, row_grain(ceil_div(row_elements, strips)),
          [&](std::int64_t begin, std::int64_t end, int) {
            vectorised([&]() HOWARD_INLINE {
              for (std::int64_t unit = begin; unit < end; ++unit) {
                const std::int64_t row = unit / strips;
                const std::int64_t column = unit % strips * kGradientColumns;
                sum_rows(dy + column, columns, places.of(row),
                         std::min(kGradientColumns, columns - column),
                         out + row * columns + column);
              }
            });
          });
  };
}

}  // namespace

Kernel make_kernel(const EmbeddingAttributes&, const Call& call, const KernelContext& context) {
  const TensorSpec& table = call.in(1);
  const std::int64_t columns = table.shape.columns();
  const Indices indices(call, 0, rows_of(table.shape), "embedding");
  const std::int64_t row = table.host_bytes().value() / rows_of(table.shape);
  return [=, &pool = context.pool, from = call.in_values(1), out = call.out_values()] {
    indices.require_in_range();
    share(pool, indices.count(), row_grain(columns),
          [&](std::int64_t begin, std::int64_t end, int) {
            for (std::int64_t i = begin; i < end; ++i) {
              std::memcpy(out + i * row, from + indices.at(i) * row, static_cast<std::size_t>(row));
            }
          });
  };
}

Kernel make_kernel(const EmbeddingBackwardAttributes&, const Call& call,
                   const KernelContext& context) {
  return with_type(call.in(1).dtype, [&](auto type) {
    return embedding_gradient<typename decltype(type)::type>(call, context);
  });
}

}  // namespace howard::host
