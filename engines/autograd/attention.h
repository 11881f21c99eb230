// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "engines/autograd/tape.h"

namespace howard::autograd {

/// softmax(q k^T / sqrt(d) + mask) v of `heads` heads of width d, of q and the two values that
/// follow it, k and v, [n, s, heads d] each: as the report's GPT-2 does it, from separate
/// projections by reshapes and transpositions. `mask` [s, s] is a constant.
///
/// `probabilities` [n, heads, s, s]: where the softmax is written, if several layers share one
/// place. All of them then use the last one's in their backward passes, which is the report's bug.
Value composed_attention(Tape& tape, Value q, Value mask, int heads,
                         std::optional<Value> probabilities = {});

/// The same of qkv [n, 1, s, 3 heads d], as [n, 1, s, heads d], with TTML's ops; `mask` [s, s] is 1
/// where it may look and 0 elsewhere.
Value fused_attention(Tape& tape, Value qkv, Value mask, int heads);

}  // namespace howard::autograd
