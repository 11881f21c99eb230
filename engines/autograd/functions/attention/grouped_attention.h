// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "engines/autograd/tape.h"

namespace howard::autograd {

/// Splits q [n, 1, s, heads d] and kv [n, 1, s, 2 groups d], which has k's columns and then v's.
/// Returns q [n, heads, s, d]; k and v [n, groups, s, d] are the two values that follow it.
Value grouped_heads(Tape& tape, Value q, Value kv, int heads, int groups);

/// The operands of grouped attention, all [n, heads or groups, s, d]; v may have another d.
struct GroupedHeads {
  Value q, k, v;
};

/// Computes softmax(q k^T / sqrt(d)) v as [n, heads, s, d of v], where each group of k and v serves
/// an equal share of the heads of q. `mask` [s, s] is 1 where a position may look and 0 elsewhere.
/// As with TTML's ops, k and v are repeated, forward and again backward, and their gradients are
/// summed.
Value grouped_attention(Tape& tape, const GroupedHeads& heads, std::optional<Value> mask);

}  // namespace howard::autograd
