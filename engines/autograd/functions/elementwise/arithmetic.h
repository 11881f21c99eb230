// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/autograd/tape.h"

namespace howard::autograd {

// These functions are of one op each, as the report's dynamic engine records them. Those of two
// values broadcast: a dimension of one fits any other, and its gradient is summed.

/// Sums a gradient over the dimensions in which an operand of `shape` was repeated, by one call for
/// each from the last one on, or by one for all four.
ops::Tensor summed_to(const Calls& calls, ops::Tensor gradient, const Shape& shape);

/// Computes a + b.
Value add(Tape& tape, Value a, Value b);
/// Computes a - b.
Value subtract(Tape& tape, Value a, Value b);
/// Multiplies element by element. a and b may be the same value; its gradient is then the sum of
/// two products.
Value multiply(Tape& tape, Value a, Value b);
/// Returns the smaller or the larger one of each two elements, by whose gradient the other has 0.
/// Of equal ones it is a.
Value minimum(Tape& tape, Value a, Value b);
Value maximum(Tape& tape, Value a, Value b);
/// Computes a / b for equal shapes, as TTML does: a times the reciprocal of b, which is kept.
Value divide(Tape& tape, Value a, Value b);
/// Computes factor a.
Value scale(Tape& tape, Value a, float factor);
/// Returns the mean of all elements, one number; by ttnn's moreh_mean, which TTML calls, if
/// `moreh`.
Value mean(Tape& tape, Value a, bool moreh = false);
/// Multiplies two matrices.
Value matmul(Tape& tape, Value a, Value b);
/// Swaps rows and columns.
Value transpose(Tape& tape, Value a);
/// Returns the same elements in row order under another shape; this is free where the elements stay
/// in place.
Value as_shape(Tape& tape, Value a, const Shape& shape);
/// Returns the columns of a, and to their right those of b; each gradient is cut out of the whole.
Value side_by_side(Tape& tape, Value a, Value b);
/// Computes max(a, 0); the backward pass compares a with 0 again.
Value relu(Tape& tape, Value a);

}  // namespace howard::autograd
