// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "engines/host/kernels/kernels.h"
#include "engines/host/kernels/vector_loops.h"

namespace howard::host {
namespace {

/// Copies runs of contiguous bytes that are laid out in three dimensions.
struct StridedCopy {
  struct Dimension {
    std::int64_t size = 1;
    std::int64_t from = 0;  ///< The distance in bytes between the beginnings of two runs.
    std::int64_t to = 0;
  };
  const std::byte* source = nullptr;
  std::byte* target = nullptr;
  std::array<Dimension, 3> dimensions;  ///< The outermost dimension comes first.
  std::int64_t run = 0;                 ///< The length of a run in bytes.

  std::int64_t runs() const { return dimensions[0].size * dimensions[1].size * dimensions[2].size; }

  void copy_run(std::int64_t index) const {
    const auto& [first, middle, last] = dimensions;
    const std::int64_t k = index % last.size;
    const std::int64_t j = index / last.size % middle.size;
    const std::int64_t i = index / last.size / middle.size;
    std::memcpy(target + i * first.to + j * middle.to + k * last.to,
                source + i * first.from + j * middle.from + k * last.from,
                static_cast<std::size_t>(run));
  }
};

Kernel copy_kernel(std::vector<StridedCopy> copies, const KernelContext& context) {
  return [copies = std::move(copies), &pool = context.pool] {
    for (const StridedCopy& copy : copies) {
      share(pool, copy.runs(), row_grain(copy.run / 2 + 1),
            [&](std::int64_t begin, std::int64_t end, int) {
              for (std::int64_t run = begin; run < end; ++run) copy.copy_run(run);
            });
    }
  };
}

/// Copies all elements in their order.
Kernel plain_copy(const Call& call, const KernelContext& context) {
  constexpr std::int64_t kPiece = std::int64_t{64} * 1024;
  const std::int64_t size = call.out().host_bytes().value();
  const std::int64_t whole = size / kPiece * kPiece;
  std::vector<StridedCopy> copies;
  if (whole > 0) {
    copies.push_back({.source = call.in_values(0),
                      .target = call.out_values(),
                      .dimensions = {{{}, {}, {whole / kPiece, kPiece, kPiece}}},
                      .run = kPiece});
  }
  if (whole < size) {
    copies.push_back({.source = call.in_values(0) + whole,
                      .target = call.out_values() + whole,
                      .dimensions = {},
                      .run = size - whole});
  }
  return copy_kernel(std::move(copies), context);
}

/// A matrix is transposed in squares of this side; the source and the target of a square both fit
/// into the first-level cache.
constexpr std::int64_t kSquare = 32;

/// Transposes a part of a matrix, from its first element on. [rows, columns] is at most kSquare x
/// kSquare.
template <class Word>
HOWARD_INLINE inline void transpose_square(const Word* from, std::int64_t from_step, Word* to,
                                           std::int64_t to_step, std::int64_t rows,
                                           std::int64_t columns) {
  Word square[kSquare][kSquare];
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      square[column][row] = from[row * from_step + column];
    }
  }
  for (std::int64_t column = 0; column < columns; ++column) {
    std::memcpy(to + column * to_step, square[column],
                static_cast<std::size_t>(rows) * sizeof(Word));
  }
}

template <class Word>
Kernel transpose_kernel(const Call& call, const KernelContext& context) {
  const Shape shape = call.in(0).shape;
  return [=, &pool = context.pool, x = call.in_values<Word>(0), out = call.out_values<Word>()] {
    const std::int64_t rows = shape.rows();
    const std::int64_t columns = shape.columns();
    const std::int64_t strips = ceil_div(rows, kSquare);
    share(pool, shape.batch() * strips, row_grain(columns * std::min(rows, kSquare)),
          [&](std::int64_t begin, std::int64_t end, int) {
            vectorised([&]() HOWARD_INLINE {
              for (std::int64_t strip = begin; strip < end; ++strip) {
                const std::int64_t matrix = strip / strips * rows * columns;
                const std::int64_t row = strip % strips * kSquare;
                for (std::int64_t column = 0; column < columns; column += kSquare) {
                  transpose_square(x + matrix + row * columns + column, columns,
                                   out + matrix + column * rows + row, rows,
                                   std::min(kSquare, rows - row),
                                   std::min(kSquare, columns - column));
                }
              }
            });
          });
  };
}

}  // namespace

Kernel make_kernel(const RepeatAttributes&, const Call& call, const KernelContext& context) {
  const Shape& shape = call.in(0).shape;
  const std::int64_t count = call.out().shape.heads() / shape.heads();
  const std::int64_t run = shape.rows() * shape.columns() * element_bytes(call.out().dtype);
  return copy_kernel({{.source = call.in_values(0),
                       .target = call.out_values(),
                       .dimensions = {{{}, {shape.batch(), run, count * run}, {count, 0, run}}},
                       .run = run}},
                     context);
}

Kernel make_kernel(const ReshapeAttributes&, const Call& call, const KernelContext& context) {
  return plain_copy(call, context);
}

Kernel make_kernel(const MemoryMoveAttributes&, const Call& call, const KernelContext& context) {
  return plain_copy(call, context);
}

Kernel make_kernel(const LayoutAttributes&, const Call& call, const KernelContext& context) {
  return plain_copy(call, context);
}

Kernel make_kernel(const TransposeAttributes& attributes, const Call& call,
                   const KernelContext& context) {
  const Shape& shape = call.in(0).shape;
  const bool columns = attributes.swap == Swap::rows_columns;
  if (columns) {
    return with_bits(call.out().dtype, [&](auto type) {
      return transpose_kernel<typename decltype(type)::type>(call, context);
    });
  }
  const std::int64_t run = shape.columns() * element_bytes(call.out().dtype);
  return copy_kernel({{.source = call.in_values(0),
                       .target = call.out_values(),
                       .dimensions = {{{shape.outer(), shape.heads() * shape.rows() * run,
                                        shape.heads() * shape.rows() * run},
                                       {shape.rows(), run, shape.heads() * run},
                                       {shape.heads(), shape.rows() * run, run}}},
                       .run = run}},
                     context);
}

Kernel make_kernel(const ConcatAttributes& attributes, const Call& call,
                   const KernelContext& context) {
  const auto along = static_cast<std::size_t>(attributes.dimension);
  const auto& sides = call.out().shape.dimensions();
  // The dimensions before this one are gone through; those behind it stay together.
  std::int64_t before = 1;
  std::int64_t behind = element_bytes(call.out().dtype);
  for (std::size_t i = 0; i < 4; ++i) (i < along ? before : behind) *= i == along ? 1 : sides[i];
  std::vector<StridedCopy> copies;
  std::int64_t offset = 0;  // in bytes
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    const std::int64_t run = call.in(i).shape.dimensions()[along] * behind;
    copies.push_back({.source = call.in_values(i),
                      .target = call.out_values() + offset,
                      .dimensions = {{{}, {}, {before, run, sides[along] * behind}}},
                      .run = run});
    offset += run;
  }
  return copy_kernel(std::move(copies), context);
}

namespace {

/// Copies the heads of a result out of the columns of an operand that has `all` heads, from the
/// head `first` on.
StridedCopy head_copy(const Call& call, std::size_t from, std::int64_t all, std::int64_t first,
                      std::size_t part) {
  const Shape& joined = call.in(from).shape;
  const std::int64_t heads = call.out(part).shape.heads();
  const std::int64_t columns = joined.columns() / all;
  const std::int64_t rows = joined.rows();
  const std::int64_t run = columns * element_bytes(call.out().dtype);
  return {.source = call.in_values(from) + first * run,
          .target = call.out_values(part),
          .dimensions = {{{joined.outer(), rows * all * run, heads * rows * run},
                          {heads, run, rows * run},
                          {rows, all * run, run}}},
          .run = run};
}

}  // namespace

Kernel make_kernel(const SplitHeadsAttributes& attributes, const Call& call,
                   const KernelContext& context) {
  const std::int64_t heads = attributes.heads;
  const std::int64_t groups = call.out(1).shape.heads();
  call.require(!attributes.transpose_k, "k as it is");
  const std::int64_t all = heads + 2 * groups;
  return copy_kernel({head_copy(call, 0, all, 0, 0), head_copy(call, 0, all, heads, 1),
                      head_copy(call, 0, all, heads + groups, 2)},
                     context);
}

Kernel make_kernel(const SplitGroupsAttributes& attributes, const Call& call,
                   const KernelContext& context) {
  const std::int64_t groups = attributes.groups;
  call.require(!attributes.transpose_k, "k as it is");
  return copy_kernel(
      {head_copy(call, 0, attributes.heads, 0, 0), head_copy(call, 1, 2 * groups, 0, 1),
       head_copy(call, 1, 2 * groups, groups, 2)},
      context);
}

Kernel make_kernel(const ConcatHeadsAttributes&, const Call& call, const KernelContext& context) {
  const Shape& shape = call.in(0).shape;
  const std::int64_t heads = shape.heads();
  const std::int64_t run = shape.columns() * element_bytes(call.out().dtype);
  return copy_kernel(
      {{.source = call.in_values(0),
        .target = call.out_values(),
        .dimensions = {{{shape.outer(), heads * shape.rows() * run, heads * shape.rows() * run},
                        {shape.rows(), run, heads * run},
                        {heads, shape.rows() * run, run}}},
        .run = run}},
      context);
}

}  // namespace howard::host
