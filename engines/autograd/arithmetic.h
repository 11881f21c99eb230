// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/autograd/tape.h"

namespace howard::autograd {

// Functions of one op each, as the report's dynamic engine records them.

/// a + b, where b may be one row that is added to each row of a.
Value add(Tape& tape, Value a, Value b);
/// Of equal shapes.
Value subtract(Tape& tape, Value a, Value b);
/// Of equal shapes; a and b may be the same value, whose gradient is then the sum of two products.
Value multiply(Tape& tape, Value a, Value b);
/// The mean of all elements, one number.
Value mean(Tape& tape, Value a);
/// Two matrices.
Value matmul(Tape& tape, Value a, Value b);
/// Rows and columns swapped.
Value transpose(Tape& tape, Value a);
/// The same elements in row order under another shape: at no cost where they stay in place.
Value as_shape(Tape& tape, Value a, const Shape& shape);
/// max(a, 0); the backward pass compares a with 0 again.
Value relu(Tape& tape, Value a);

}  // namespace howard::autograd
