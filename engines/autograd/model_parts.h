// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/autograd/tape.h"

namespace howard::autograd {

// Functions for models whose code puts the parts together: fused_attention() and
// grouped_attention() are made of the same programs.

/// Multiplies each element by a number.
Value scale(Tape& tape, Value a, float factor);

/// The softmax along the columns.
Value softmax(Tape& tape, Value a);

/// q, and the two values that follow it, k and v, all [n, heads, s, d], of qkv [n, 1, s, 3 heads
/// d].
Value split_heads(Tape& tape, Value qkv, int heads);

/// softmax(q k^T / sqrt(d)) v as [n, heads, s, d]; `mask` [s, s], or with leading ones, is 1 where
/// a position may look and 0 elsewhere.
Value scaled_attention(Tape& tape, Value q, Value k, Value v, Value mask);

/// [n, 1, s, heads d] of [n, heads, s, d].
Value join_heads(Tape& tape, Value x);

}  // namespace howard::autograd
