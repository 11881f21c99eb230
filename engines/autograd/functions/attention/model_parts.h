// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/autograd/tape.h"

namespace howard::autograd {

// TTML's models put these parts of attention together. What a part returns lives until the part
// before it has its gradient, as with TTML's ops.

/// Splits qkv [n, 1, s, 3 heads d] into q, k and v, all [n, heads, s, d]. Returns q; k and v are
/// the two values that follow it.
Value split_heads(Tape& tape, Value qkv, int heads);

/// Returns softmax(q k^T / sqrt(d)) v as [n, heads, s, d]. `mask` [s, s], or with leading ones, is
/// 1 where a position may look and 0 elsewhere.
Value scaled_attention(Tape& tape, Value q, Value k, Value v, Value mask);

/// Turns [n, heads, s, d] into [n, 1, s, heads d].
Value join_heads(Tape& tape, Value x);

}  // namespace howard::autograd
