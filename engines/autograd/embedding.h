// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/autograd/tape.h"

namespace howard::autograd {

/// The rows of `table` [v, d] at `indices` [n, s], as [n, s, d]. A table in tile layout is
/// untilized first; the gradient is in tile layout.
Value embedding(Tape& tape, Value indices, Value table);

/// x [n, 1, s, d] + positions [s, d], of each n; the gradient by moreh_sum, as TTML does it.
Value add_positions(Tape& tape, Value x, Value positions);

}  // namespace howard::autograd
