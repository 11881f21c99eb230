// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/autograd/tape.h"

namespace howard::autograd {

/// The mean of (prediction - target)^2, one number, as one function, which must be the loss that
/// backward() begins with: its own gradient is taken from the host.
Value mean_squared_error(Tape& tape, Value prediction, Value target);

/// The same as one function for each op: what the report's dynamic engine records.
Value composed_mean_squared_error(Tape& tape, Value prediction, Value target);

/// The same as the report's Python engine does it: a sum and a product, and one more fill backward
/// that nothing reads. Must be what backward() begins with.
Value summed_squared_error(Tape& tape, Value prediction, Value target);

/// The mean over all positions of log(sum of exp(logits)) - logit of the target, of logits
/// [..., s, v] and targets [n, s]; as TTML does it, with one more fill that nothing reads. Must be
/// what backward() begins with.
Value mean_cross_entropy(Tape& tape, Value logits, Value targets);

}  // namespace howard::autograd
