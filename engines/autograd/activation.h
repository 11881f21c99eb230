// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/autograd/tape.h"

namespace howard::autograd {

/// max(x, 0) with the mask made in the forward pass: what the report's static engine does.
Value masked_relu(Tape& tape, Value x);

/// The exact gelu; its backward pass is ttnn's composite, or TTML's one program when `fused`.
Value gelu(Tape& tape, Value x, bool fused);

/// x sigmoid(x); its backward pass is TTML's one program.
Value silu(Tape& tape, Value x);

/// x / (1 - probability), or 0 with that probability, from the tape's next seed. x itself, at no
/// cost, when the probability is 0.
Value dropout(Tape& tape, Value x, float probability);

}  // namespace howard::autograd
