// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engines/autograd/tape.h"

namespace howard::autograd {

// TTML's mixtures of experts are put together from these parts. Rows [n, 1, s, experts] have a
// number for each expert of a token.

/// Computes the softmax along the columns.
Value softmax(Tape& tape, Value x);

/// Computes the logarithm of the softmax along the columns, by two calls. Its gradient is dy -
/// softmax(x) (sum of dy).
Value log_softmax(Tape& tape, Value x);

/// Returns 1 at the `count` largest numbers of each row of x and 0 elsewhere, by ttnn's topk and
/// scatter. Of equal numbers the first one counts.
ops::Tensor ones_at_largest(const Calls& calls, const ops::Tensor& x, std::int64_t count);

/// Returns scale m s / (sum of m s along the columns) of scores s and a mask m of ones and zeros,
/// which is a constant. With G the gradient and D the sum, that of a score is m scale (G - sum of G
/// m s / D) / D.
Value normalized_shares(Tape& tape, Value scores, Value mask, float scale);

/// Returns scale m s.
Value masked_shares(Tape& tape, Value scores, Value mask, float scale);

/// Multiplies each row of x [n, 1, s, d] by a number: a column of `shares` [n, 1, s, experts].
Value scaled_rows(Tape& tape, Value x, Value shares, std::int64_t column);

}  // namespace howard::autograd
