// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/autograd/tape.h"

namespace howard::autograd {

/// Computes a function of one value with `step`'s numbers. Its backward pass is composed of
/// elementwise programs, some of x and some of the result, as ttnn composes it.
///
/// The function may be sigmoid, silu, tanh, exp, exp2, expm1, log, log2, log1p, sqrt, rsqrt,
/// reciprocal, square, power, neg, abs, clamp, relu, leaky_relu, sin or cos. Throws Error for any
/// other.
Value elementwise(Tape& tape, Value x, const EltwiseStep& step);

/// Computes the same with the function's default numbers.
Value elementwise(Tape& tape, Value x, Eltwise function);

}  // namespace howard::autograd
