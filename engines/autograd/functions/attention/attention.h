// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "engines/autograd/tape.h"

namespace howard::autograd {

/// Computes softmax(q k^T / sqrt(d) + mask) v for `heads` heads of width d. q and the two values
/// that follow it, k and v, are [n, s, heads d] each. It uses separate projections, reshapes and
/// transpositions, as the report's GPT-2 does. `mask` [s, s] is a constant.
///
/// `probabilities` [n, heads, s, s] is where the softmax is written, if several layers share one
/// place. All of them then use the last layer's probabilities in their backward passes, which is
/// the report's bug.
Value composed_attention(Tape& tape, Value q, Value mask, int heads,
                         std::optional<Value> probabilities = {});

/// Computes softmax(q k^T / sqrt(d)) v in TTML's fused kernels: sdpa_fw, and sdpa_bw, which makes
/// the probabilities again from two numbers of each row. q is [n, heads, s, d]; k is [n, groups, s,
/// d] and v [n, groups, s, e], and each group of them serves an equal share of the heads. The
/// result is [n, heads, s, e]. `mask` [n or 1, heads or 1, s, s] is a constant, 1 where a place is
/// seen and 0 elsewhere; without one each place sees those up to its own.
Value fused_attention(Tape& tape, Value q, Value k, Value v, std::optional<Value> mask = {});

}  // namespace howard::autograd
