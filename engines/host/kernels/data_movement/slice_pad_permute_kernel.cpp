// SPDX-License-Identifier: Apache-2.0
//
// Has the kernels of slices, paddings and permutations, in which each element of the result has one
// place in the operand, and of rows that are written into a cache.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "engines/host/kernels/indices.h"
#include "engines/host/kernels/kernels.h"
#include "engines/host/kernels/vector_loops.h"

namespace howard::host {
namespace {

using Sides = std::array<std::int64_t, 4>;

/// Returns how many elements lie between one index of each dimension and the next, without padding.
Sides element_steps(const Shape& shape) {
  const Sides& sides = shape.dimensions();
  return {sides[1] * sides[2] * sides[3], sides[2] * sides[3], sides[3], 1};
}

/// Returns the index of a row in the first three dimensions.
Sides row_index(const Sides& sides, std::int64_t row) {
  return {row / (sides[1] * sides[2]), row / sides[2] % sides[1], row % sides[2], 0};
}

/// Takes element (i, j, k, l) of the result from `first` + i steps[0] + j steps[1] + ...
template <class Word>
Kernel gather_kernel(const Call& call, std::int64_t first, const Sides& steps,
                     const KernelContext& context) {
  const Sides sides = call.out().shape.dimensions();
  return [=, &pool = context.pool, from = call.in_values<Word>(0) + first,
          to = call.out_values<Word>()] {
    share(pool, sides[0] * sides[1] * sides[2], row_grain(sides[3]),
          [&](std::int64_t begin, std::int64_t end, int) {
            for (std::int64_t row = begin; row < end; ++row) {
              const Sides at = row_index(sides, row);
              const Word* read = from + at[0] * steps[0] + at[1] * steps[1] + at[2] * steps[2];
              Word* write = to + row * sides[3];
              if (steps[3] == 1) {
                std::copy(read, read + sides[3], write);
              } else {
                for (std::int64_t i = 0; i < sides[3]; ++i) write[i] = read[i * steps[3]];
              }
            }
          });
  };
}

Kernel gather(const Call& call, std::int64_t first, const Sides& steps,
              const KernelContext& context) {
  return with_bits(call.out().dtype, [&](auto type) {
    return gather_kernel<typename decltype(type)::type>(call, first, steps, context);
  });
}

/// Replaces the rows of operand 0 from `first` on by those of operand 1. If operand 2 is a
/// position, the rows begin that much further on.
Kernel write_rows_kernel(const Call& call, std::int64_t first, const KernelContext& context) {
  const Sides from = call.in(0).shape.dimensions();
  const Sides to = call.out().shape.dimensions();
  call.require(call.in_values(1) == call.out_values(), "the cache as the result");
  const std::int64_t places = to[2] - from[2] - first + 1;
  const std::int64_t head = call.out().host_bytes().value() / (to[0] * to[1]);
  const std::int64_t row = head / to[2];
  std::optional<Indices> position;
  if (call.inputs() > 2) position.emplace(call, 2, places, "write_rows");
  return [=, &pool = context.pool, values = call.in_values(0), cache = call.out_values()] {
    if (position) position->require_in_range();
    const std::int64_t at = first + (position ? position->at(0) : 0);
    share(pool, to[0] * to[1], row_grain(from[2] * from[3]),
          [&](std::int64_t begin, std::int64_t end, int) {
            for (std::int64_t i = begin; i < end; ++i) {
              std::memcpy(cache + i * head + at * row, values + i * from[2] * row,
                          static_cast<std::size_t>(from[2] * row));
            }
          });
  };
}

template <class T>
Kernel pad_kernel(const PadAttributes& attributes, const Call& call, const KernelContext& context) {
  const Sides inner = call.in(0).shape.dimensions();
  const Sides sides = call.out().shape.dimensions();
  const Sides steps = element_steps(call.in(0).shape);
  return [=, &pool = context.pool, before = attributes.before, value = attributes.value,
          from = call.in_values<T>(0), to = call.out_values<T>()] {
    share(pool, sides[0] * sides[1] * sides[2], row_grain(sides[3]),
          [&](std::int64_t begin, std::int64_t end, int) {
            T filling{};
            store(&filling, 0, number_of<decltype(load(&filling, 0))>(value));
            for (std::int64_t row = begin; row < end; ++row) {
              const Sides at = row_index(sides, row);
              T* write = to + row * sides[3];
              bool inside = true;
              std::int64_t first = 0;
              for (std::size_t i = 0; i < 3; ++i) {
                inside = inside && at[i] >= before[i] && at[i] < before[i] + inner[i];
                first += (at[i] - before[i]) * steps[i];
              }
              std::fill(write, write + sides[3], filling);
              if (inside) std::copy(from + first, from + first + inner[3], write + before[3]);
            }
          });
  };
}

}  // namespace

Kernel make_kernel(const WriteRowsAttributes& attributes, const Call& call,
                   const KernelContext& context) {
  return write_rows_kernel(call, attributes.row, context);
}

Kernel make_kernel(const UpdateCacheAttributes&, const Call& call, const KernelContext& context) {
  return write_rows_kernel(call, 0, context);
}

Kernel make_kernel(const SliceAttributes& attributes, const Call& call,
                   const KernelContext& context) {
  Sides steps = element_steps(call.in(0).shape);
  std::int64_t first = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    first += attributes.begins[i] * steps[i];
    steps[i] *= attributes.steps[i];
  }
  return gather(call, first, steps, context);
}

Kernel make_kernel(const PermuteAttributes& attributes, const Call& call,
                   const KernelContext& context) {
  const Sides from = element_steps(call.in(0).shape);
  Sides steps{};
  for (std::size_t i = 0; i < 4; ++i) {
    steps[i] = from.at(static_cast<std::size_t>(attributes.order[i]));
  }
  return gather(call, 0, steps, context);
}

Kernel make_kernel(const PadAttributes& attributes, const Call& call,
                   const KernelContext& context) {
  return with_number(call.out().dtype, [&](auto type) {
    return pad_kernel<typename decltype(type)::type>(attributes, call, context);
  });
}

}  // namespace howard::host
