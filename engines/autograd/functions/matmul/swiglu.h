// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/autograd/tape.h"

namespace howard::autograd {

/// The weights of a gated feed-forward part on a tape: `gate` and `up` are [f, d], `down` is [d,
/// f].
struct SwigluValues {
  Value gate, down, up;
};

/// Computes (silu(x gate^T) * (x up^T)) down^T with TTML's one program. Backward it computes the
/// two products of x again, and goes on as the same part in single calls does.
Value fused_swiglu(Tape& tape, Value x, const SwigluValues& weights);

}  // namespace howard::autograd
