// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/autograd/tape.h"

namespace howard::autograd {

/// Looks up the rows of `table` [v, d] at `indices` [n, s]; the result is [n, s, d]. A table in
/// tile layout is untilized first; the gradient is in tile layout.
Value embedding(Tape& tape, Value indices, Value table);

/// Adds positions [s, d] to x [n, 1, s, d], for each n. The gradient is computed with moreh_sum, as
/// in TTML.
Value add_positions(Tape& tape, Value x, Value positions);

}  // namespace howard::autograd
