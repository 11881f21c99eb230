// SPDX-License-Identifier: Apache-2.0
//
// Elementwise functions by one generic mechanism: a piece of each operand is brought into float32,
// or into 64 bits where there are whole numbers; the function and what follows it in the same
// kernel run over the piece, and the result is stored in its data type. Functions that training
// spends its time in have loops of their own (eltwise_kernel.cpp).
#include "engines/host/kernels/elementwise/eltwise_blocks.h"

#include <algorithm>
#include <array>
#include <type_traits>
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

/// The numbers of a function besides its values.
template <class Number>
using Numbers = std::array<Number, kMostEltwiseNumbers>;

/// Computes out[i] = function(x[i], y[i], z[i]); out may be one of them.
template <class Number>
using Loop3 = void (*)(const Number* x, const Number* y, const Number* z,
                       const Numbers<Number>& numbers, Number* out, std::int64_t count);

template <Eltwise kFunction, class Number>
void block_loop(const Number* x, const Number* y, const Number* z, const Numbers<Number>& numbers,
                Number* out, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    out[i] = eltwise_value<kFunction, Number>({x[i], y[i], z[i], numbers[0], numbers[1]});
  }
}

template <class Number, std::size_t... kIndices>
constexpr std::array<Loop3<Number>, kEltwiseFunctions> all_block_loops(
    std::index_sequence<kIndices...> /*of all*/) {
  return {block_loop<static_cast<Eltwise>(kIndices), Number>...};
}
template <class Number>
constexpr auto kBlockLoops = all_block_loops<Number>(std::make_index_sequence<kEltwiseFunctions>());

template <class Number>
struct BlockStep {
  Loop3<Number> loop = nullptr;
  Numbers<Number> numbers{};
};

template <class Number>
BlockStep<Number> block_step(Eltwise function,
                             const std::array<float, kMostEltwiseNumbers>& numbers) {
  return {kBlockLoops<Number>[static_cast<std::size_t>(function)],
          { number_of<Number>(numbers[0]), number_of<Number>(numbers[1]) }};
}

/// Stores a result whose own data type may be another one.
template <class T, class Number>
HOWARD_INLINE inline void store_result(T* to, std::int64_t i, Number value) {
  store(to, i, static_cast<float>(value));
}
template <class T, class Number>
HOWARD_INLINE inline void store_result(Whole<T>* to, std::int64_t i, Number value) {
  if constexpr (std::is_same_v<Number, std::int64_t>) {
    to[i].value = typecast<T>(value);
  } else {
    to[i].value = typecast<T>(double{value});
  }
}

/// A tensor that is read row by row; a dimension of one fits any other.
struct BlockOperand {
  const std::byte* values = nullptr;
  DataType dtype = DataType::float32;
  std::array<std::int64_t, 4> steps{};  ///< From one element of a dimension to the next, or 0.

  template <class Number>
  void load_piece(std::int64_t first, std::int64_t column, std::int64_t count, Number* to) const {
    const std::int64_t begin = first + column * steps[3];
    with_number(dtype, [&](auto type) {
      const auto* from = reinterpret_cast<const typename decltype(type)::type*>(values) + begin;
      if (steps[3] == 0) {
        std::fill(to, to + count, static_cast<Number>(load(from, 0)));
      } else {
        vectorised([=]() HOWARD_INLINE {
          for_each(count, [=](std::int64_t i)
                              HOWARD_INLINE { to[i] = static_cast<Number>(load(from, i)); });
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
template <class Number>
struct BlockProgram {
  using Step = BlockStep<Number>;

  std::vector<BlockOperand> operands;
  Number scalar = 0;  ///< The value after those of the operands.
  /// The first takes all operands, each other one the result before it.
  std::vector<Step> steps;
  /// The functions before, on the first and the second operand.
  std::array<std::vector<Step>, 2> before;
  std::array<std::int64_t, 4> sides{};
  DataType own = DataType::float32;  ///< Of whole numbers: the data type in which they wrap.
  DataType dtype = DataType::float32;
  std::byte* out = nullptr;

  std::int64_t pieces() const { return ceil_div(sides[3], kBlock); }
  std::int64_t units() const { return sides[0] * sides[1] * sides[2] * pieces(); }

  /// Applies the functions in place, one after the other.
  static void run_steps(std::span<const Step> functions, Number* values, std::int64_t count) {
    for (const Step& step : functions) {
      step.loop(values, values, values, step.numbers, values, count);
    }
  }

  void run_unit(std::int64_t unit) const {
    alignas(64) Number values[3][kBlock];
    const std::int64_t row = unit / pieces();
    const std::int64_t column = unit % pieces() * kBlock;
    const std::int64_t count = std::min(kBlock, sides[3] - column);
    const std::array<std::int64_t, 3> at{row / (sides[1] * sides[2]), row / sides[2] % sides[1],
                                         row % sides[2]};
    const Number* read[3];
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
    if constexpr (std::is_same_v<Number, std::int64_t>) wrap(values[0], count);
    store_piece(values[0], row * sides[3] + column, count);
  }

  void wrap(std::int64_t* values, std::int64_t count) const {
    with_whole_type(own, [=](auto type) {
      using T = typename decltype(type)::type;
      vectorised([=]() HOWARD_INLINE {
        for_each(count,
                 [=](std::int64_t i) HOWARD_INLINE { values[i] = static_cast<T>(values[i]); });
      });
    });
  }

  void store_piece(const Number* from, std::int64_t first, std::int64_t count) const {
    with_number(dtype, [&](auto type) {
      auto* to = reinterpret_cast<typename decltype(type)::type*>(out) + first;
      vectorised([=]() HOWARD_INLINE {
        for_each(count, [=](std::int64_t i) HOWARD_INLINE { store_result(to, i, from[i]); });
      });
    });
  }
};

template <class Number>
Kernel block_kernel(const EltwiseAttributes& attributes, const Call& call,
                    const KernelContext& context) {
  BlockProgram<Number> program{.scalar = number_of<Number>(attributes.scalar.value_or(0.0F)),
                               .sides = call.out().shape.dimensions(),
                               .dtype = call.out().dtype,
                               .out = call.out_values()};
  SpecList in;
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    program.operands.push_back(block_operand(call.in(i), call.in_values(i)));
    in.push_back(call.in(i));
  }
  if (!in.empty()) program.own = attributes.type_of(in);
  program.steps.push_back(block_step<Number>(attributes.function, attributes.numbers));
  const auto add = [](const std::vector<EltwiseStep>& from, std::vector<BlockStep<Number>>& to) {
    for (const EltwiseStep& step : from) {
      to.push_back(block_step<Number>(step.function, step.numbers));
    }
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

}  // namespace

Kernel make_block_kernel(const EltwiseAttributes& attributes, const Call& call,
                         const KernelContext& context) {
  if (call.is_real()) return block_kernel<float>(attributes, call, context);
  SpecList in;
  for (std::size_t i = 0; i < call.inputs(); ++i) in.push_back(call.in(i));
  // float32 has not all bits of a whole number beside a real one.
  return attributes.is_whole(in) ? block_kernel<std::int64_t>(attributes, call, context)
                                 : block_kernel<double>(attributes, call, context);
}

}  // namespace howard::host
