// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/autograd/tape.h"

namespace howard::autograd {

/// q [n, heads, s, d], k and v [n, groups, s, d], the values that follow it, of q [n, 1, s, heads
/// d] and kv [n, 1, s, 2 groups d]: k's columns, then v's.
Value grouped_heads(Tape& tape, Value q, Value kv, int heads, int groups);

/// What grouped attention looks with, all [n, heads or groups, s, d].
struct GroupedHeads {
  Value q, k, v;
};

/// softmax(q k^T / sqrt(d)) v as [n, 1, s, heads d], each group of k and v for as many heads of q
/// as come on one; `mask` [s, s] is 1 where it may look and 0 elsewhere. TTML's ops: k and v are
/// repeated, forward and again backward, and their gradients summed.
Value grouped_attention(Tape& tape, const GroupedHeads& heads, Value mask);

}  // namespace howard::autograd
