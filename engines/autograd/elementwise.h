// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/autograd/tape.h"

namespace howard::autograd {

/// function(x) of a function of one value, told `step`'s numbers. Backward it is composed of
/// elementwise programs, some of x and some of the result, as ttnn composes it.
///
/// Of sigmoid, silu, tanh, exp, exp2, expm1, log, log2, log1p, sqrt, rsqrt, reciprocal, square,
/// power, neg, abs, clamp, relu, leaky_relu, sin and cos. Error for another function.
Value elementwise(Tape& tape, Value x, const EltwiseStep& step);

/// The same with the function's numbers by default.
Value elementwise(Tape& tape, Value x, Eltwise function);

}  // namespace howard::autograd
