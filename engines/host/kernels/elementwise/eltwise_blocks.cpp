// SPDX-License-Identifier: Apache-2.0
//
// Elementwise functions by one generic mechanism: a piece of each operand is brought into float32,
// the function and what follows it in the same kernel run over the piece, and the result is stored
// in its data type. Functions that training spends its time in have loops of their own
// (eltwise_kernel.cpp).
#include "engines/host/kernels/elementwise/eltwise_blocks.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "engines/host/kernels/vector_loops.h"
#include "engines/program/eltwise_value.h"

namespace howard::host {
namespace {

/// This many elements are computed at a time: four pieces of float32 stay in the first cache.
constexpr std::int64_t kBlock = 512;
/// This many blocks are worth another thread.
constexpr std::int64_t kBlockGrain = 8;

using Numbers = std::array<float, kMostEltwiseNumbers>;

/// Computes out[i] = function(x[i], y[i], z[i]); out may be one of them.
using Loop3 = void (*)(const float* x, const float* y, const float* z, const Numbers& numbers,
                       float* out, std::int64_t count);

template <Eltwise kFunction>
void block_loop(const float* x, const float* y, const float* z, const Numbers& numbers, float* out,
                std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    out[i] = eltwise_value<kFunction, float>({x[i], y[i], z[i], numbers[0], numbers[1]});
  }
}

template <std::size_t... kIndices>
constexpr std::array<Loop3, kEltwiseFunctions> all_block_loops(
    std::index_sequence<kIndices...> /*of all*/) {
  return {block_loop<static_cast<Eltwise>(kIndices)>...};
}
constexpr auto kBlockLoops = all_block_loops(std::make_index_sequence<kEltwiseFunctions>());

struct BlockStep {
  Loop3 loop = nullptr;
  Numbers numbers{};
};

BlockStep block_step(Eltwise function, const Numbers& numbers) {
  return {kBlockLoops[static_cast<std::size_t>(function)], numbers};
}

/// A tensor that is read row by row; a dimension of one fits any other.
struct BlockOperand {
  const std::byte* values = nullptr;
  DataType dtype = DataType::float32;
  std::array<std::int64_t, 4> steps{};  ///< From one element of a dimension to the next, or 0.

  void load_piece(std::int64_t first, std::int64_t column, std::int64_t count, float* to) const {
    const std::int64_t begin = first + column * steps[3];
    with_type(dtype, [&](auto type) {
      const auto* from = reinterpret_cast<const typename decltype(type)::type*>(values) + begin;
      if (steps[3] == 0) {
        std::fill(to, to + count, load(from, 0));
      } else {
        vectorised([=]() HOWARD_INLINE {
          for_each(count, [=](std::int64_t i) HOWARD_INLINE { to[i] = load(from, i); });
        });
      }
    });
  }
};

BlockOperand block_operand(const TensorSpec& spec, const std::byte* values) {
  BlockOperand operand{.values = values, .dtype = spec.dtype};
  const auto& sides = spec.shape.dimensions();
  std::int64_t step = 1;
  for (std::size_t i = 4; i-- > 0;) {
    operand.steps[i] = sides[i] == 1 ? 0 : step;
    step *= sides[i];
  }
  return operand;
}

/// Holds everything that a program's pieces need.
struct BlockProgram {
  std::vector<BlockOperand> operands;
  float scalar = 0;  ///< The value after those of the operands.
  /// The first takes all operands, each other one the result before it.
  std::vector<BlockStep> steps;
  /// The functions before, on the first and the second operand.
  std::array<std::vector<BlockStep>, 2> before;
  std::array<std::int64_t, 4> sides{};
  DataType dtype = DataType::float32;
  std::byte* out = nullptr;

  std::int64_t pieces() const { return ceil_div(sides[3], kBlock); }
  std::int64_t units() const { return sides[0] * sides[1] * sides[2] * pieces(); }

  /// Applies the functions in place, one after the other.
  static void run_steps(std::span<const BlockStep> functions, float* values, std::int64_t count) {
    for (const BlockStep& step : functions) {
      step.loop(values, values, values, step.numbers, values, count);
    }
  }

  void run_unit(std::int64_t unit) const {
    alignas(64) float values[3][kBlock];
    const std::int64_t row = unit / pieces();
    const std::int64_t column = unit % pieces() * kBlock;
    const std::int64_t count = std::min(kBlock, sides[3] - column);
    const std::array<std::int64_t, 3> at{row / (sides[1] * sides[2]), row / sides[2] % sides[1],
                                         row % sides[2]};
    const float* read[3];
    for (std::size_t i = 0; i < 3; ++i) {
      read[i] = values[i];
      if (i < operands.size()) {
        const auto& steps_of = operands[i].steps;
        const std::int64_t first = at[0] * steps_of[0] + at[1] * steps_of[1] + at[2] * steps_of[2];
        operands[i].load_piece(first, column, count, values[i]);
        if (i < before.size()) run_steps(before[i], values[i], count);
      } else if (i == operands.size()) {
        std::fill(values[i], values[i] + count, scalar);
      } else {
        read[i] = values[0];  // The function does not look at it.
      }
    }
    steps[0].loop(read[0], read[1], read[2], steps[0].numbers, values[0], count);
    run_steps(std::span(steps).subspan(1), values[0], count);
    with_type(dtype, [&](auto type) {
      auto* to = reinterpret_cast<typename decltype(type)::type*>(out) + row * sides[3] + column;
      const float* from = values[0];
      vectorised([=]() HOWARD_INLINE {
        for_each(count, [=](std::int64_t i) HOWARD_INLINE { store(to, i, from[i]); });
      });
    });
  }
};

}  // namespace

Kernel make_block_kernel(const EltwiseAttributes& attributes, const Call& call,
                         const KernelContext& context) {
  BlockProgram program{.scalar = attributes.scalar.value_or(0.0F),
                       .sides = call.out().shape.dimensions(),
                       .dtype = call.out().dtype,
                       .out = call.out_values()};
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    program.operands.push_back(block_operand(call.in(i), call.in_values(i)));
  }
  program.steps.push_back(block_step(attributes.function, attributes.numbers));
  const auto add = [](const std::vector<EltwiseStep>& from, std::vector<BlockStep>& to) {
    for (const EltwiseStep& step : from) to.push_back(block_step(step.function, step.numbers));
  };
  add(attributes.then, program.steps);
  add(attributes.on_a, program.before[0]);
  add(attributes.on_b, program.before[1]);
  return [program = std::move(program), &pool = context.pool] {
    share(pool, program.units(), kBlockGrain, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t unit = begin; unit < end; ++unit) program.run_unit(unit);
    });
  };
}

}  // namespace howard::host
