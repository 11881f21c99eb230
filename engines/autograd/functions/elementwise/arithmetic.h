// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/autograd/tape.h"

namespace howard::autograd {

// These functions are of one op each, as the report's dynamic engine records them.

/// Computes a + b; b may be one row that is added to each row of a.
Value add(Tape& tape, Value a, Value b);
/// Computes a - b for equal shapes.
Value subtract(Tape& tape, Value a, Value b);
/// Multiplies element by element, for equal shapes. a and b may be the same value; its gradient is
/// then the sum of two products.
Value multiply(Tape& tape, Value a, Value b);
/// Returns the mean of all elements, one number.
Value mean(Tape& tape, Value a);
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
