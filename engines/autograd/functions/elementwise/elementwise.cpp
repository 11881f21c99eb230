// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/functions/elementwise/elementwise.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numbers>
#include <optional>
#include <utility>

#include "base/error.h"
#include "engines/autograd/functions/elementwise/activation.h"

namespace howard::autograd {
namespace {

using ops::Tensor;

/// Makes the calls of a backward pass with its operands.
struct Slope {
  const Calls& calls;
  Tensor x, y;
  std::array<float, kMostEltwiseNumbers> numbers;

  Tensor of(Eltwise function, const Tensor& a) const { return calls.eltwise(function, a); }
  Tensor of(Eltwise function, const Tensor& a, float scalar) const {
    return calls.eltwise(function, a, scalar);
  }
  Tensor of(const EltwiseStep& step, const Tensor& a) const {
    return calls.eltwise({.function = step.function, .numbers = step.numbers}, {&a, 1});
  }
  Tensor times(const Tensor& a, const Tensor& b) const { return calls.multiply(a, b); }
  Tensor times(const Tensor& a, float scalar) const { return calls.multiply(a, scalar); }

  /// Returns the derivative at x, or nothing for a function without one here.
  std::optional<Tensor> derivative(Eltwise function) const;

 private:
  std::optional<Tensor> of_powers(Eltwise function) const;
  std::optional<Tensor> of_pieces(Eltwise function) const;
};

std::optional<Tensor> Slope::derivative(Eltwise function) const {
  constexpr float kLogTwo = std::numbers::ln2_v<float>;
  switch (function) {
    case Eltwise::sigmoid:
      return times(y, of(Eltwise::rsub, y, 1));
    case Eltwise::tanh:
      return of(Eltwise::rsub, of(Eltwise::square, y), 1);
    case Eltwise::exp:
      return y;
    case Eltwise::exp2:
      return times(y, kLogTwo);
    case Eltwise::expm1:
      return of(Eltwise::add, y, 1);
    case Eltwise::log:
      return of(Eltwise::reciprocal, x);
    case Eltwise::log2:
      return of({Eltwise::rdiv, {1 / kLogTwo, 0}}, x);
    case Eltwise::log1p:
      return of(Eltwise::reciprocal, of(Eltwise::add, x, 1));
    case Eltwise::sin:
      return of(Eltwise::cos, x);
    case Eltwise::cos:
      return of(Eltwise::neg, of(Eltwise::sin, x));
    default:
      break;
  }
  auto slope = of_powers(function);
  return slope ? std::move(slope) : of_pieces(function);
}

/// Has the derivatives of roots, squares and other powers.
std::optional<Tensor> Slope::of_powers(Eltwise function) const {
  switch (function) {
    case Eltwise::sqrt:
      return of({Eltwise::rdiv, {0.5F, 0}}, y);
    case Eltwise::rsqrt:
      return times(times(of(Eltwise::square, y), y), -0.5F);
    case Eltwise::reciprocal:
      return of(Eltwise::neg, of(Eltwise::square, y));
    case Eltwise::square:
      return times(x, 2);
    case Eltwise::power:
      return times(of({Eltwise::power, {numbers[0] - 1, 0}}, x), numbers[0]);
    default:
      return std::nullopt;
  }
}

/// Has the derivatives that are a number in each of a few pieces.
std::optional<Tensor> Slope::of_pieces(Eltwise function) const {
  switch (function) {
    case Eltwise::neg:
      return calls.fill(-1, x.spec());
    case Eltwise::abs:
      return of(Eltwise::sign, x);
    case Eltwise::relu:
      return of(Eltwise::gtz, x);
    case Eltwise::clamp:
      return times(of(Eltwise::ge, x, numbers[0]), of(Eltwise::le, x, numbers[1]));
    case Eltwise::leaky_relu: {
      // This is 1 where x > 0, else the slope: slope + (1 - slope) gtz(x).
      const Tensor positive = times(of(Eltwise::gtz, x), 1 - numbers[0]);
      return of(Eltwise::add, positive, numbers[0]);
    }
    default:
      return std::nullopt;
  }
}

struct Elementwise {
  Value x, y;
  EltwiseStep step;

  void backward(Tape& tape, Value output) const {
    const Slope slope{tape.calls(), tape.tensor(x), tape.tensor(y), step.numbers};
    tape.accumulate(x,
                    tape.calls().multiply(tape.gradient(output), *slope.derivative(step.function)));
  }
};

bool has_gradient(Eltwise function) {
  constexpr std::array kFunctions{
      Eltwise::sigmoid, Eltwise::tanh,  Eltwise::exp,        Eltwise::exp2,   Eltwise::expm1,
      Eltwise::log,     Eltwise::log2,  Eltwise::log1p,      Eltwise::sin,    Eltwise::cos,
      Eltwise::sqrt,    Eltwise::rsqrt, Eltwise::reciprocal, Eltwise::square, Eltwise::power,
      Eltwise::neg,     Eltwise::abs,   Eltwise::relu,       Eltwise::clamp,  Eltwise::leaky_relu};
  return std::ranges::find(kFunctions, function) != kFunctions.end();
}

}  // namespace

Value elementwise(Tape& tape, Value x, const EltwiseStep& step) {
  if (step.function == Eltwise::silu) return silu(tape, x);
  if (!has_gradient(step.function)) {
    throw Error(
        {.attempted = fmt::format("train through {}", name_of(step.function)),
         .value = "its gradient is not known",
         .accepted = "sigmoid, silu, tanh, exp, log, sqrt, rsqrt, power, clamp, relu, ..."});
  }
  const Tensor input = tape.tensor(x);
  const Value y = tape.constant(
      tape.calls().eltwise({.function = step.function, .numbers = step.numbers}, {&input, 1}));
  return tape.record(tape.tensor(y), {x}, Elementwise{x, y, step});
}

Value elementwise(Tape& tape, Value x, Eltwise function) {
  return elementwise(tape, x, step_of(function));
}

}  // namespace howard::autograd
