// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/autograd/tape.h"

namespace howard::autograd {

// These functions are for models whose own code puts the parts of attention together;
// fused_attention() and grouped_attention() are made of the same programs.

/// Multiplies each element by a number.
Value scale(Tape& tape, Value a, float factor);

/// Returns the softmax along the columns.
Value softmax(Tape& tape, Value a);

/// Splits qkv [n, 1, s, 3 heads d] into q, k and v, all [n, heads, s, d]. Returns q; k and v are
/// the two values that follow it.
Value split_heads(Tape& tape, Value qkv, int heads);

/// Returns softmax(q k^T / sqrt(d)) v as [n, heads, s, d]. `mask` [s, s], or with leading ones, is
/// 1 where a position may look and 0 elsewhere.
Value scaled_attention(Tape& tape, Value q, Value k, Value v, Value mask);

/// Turns [n, heads, s, d] into [n, 1, s, heads d].
Value join_heads(Tape& tape, Value x);

}  // namespace howard::autograd
