// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/autograd/tape.h"

namespace howard::autograd {

/// Returns the mean of (prediction - target)^2, one number, as one function. It must be the loss
/// that backward() begins with, because its own gradient is taken from the host.
Value mean_squared_error(Tape& tape, Value prediction, Value target);

/// Computes the same with one function for each op, as the report's dynamic engine records it.
Value composed_mean_squared_error(Tape& tape, Value prediction, Value target);

/// Computes the same as the report's Python engine does: with a sum and a product, and backward
/// with one more fill that nothing reads. It must be what backward() begins with.
Value summed_squared_error(Tape& tape, Value prediction, Value target);

/// Returns the mean over all positions of log(sum of exp(logits)) - logit of the target, for logits
/// [..., s, v] and targets [n, s]. Like TTML, it makes one more fill that nothing reads. It must be
/// what backward() begins with.
Value mean_cross_entropy(Tape& tape, Value logits, Value targets);

/// Returns the loss of each position, [n, 1, s, 1], for the same operands. Masked losses are made
/// from it: a product with a mask, and its mean.
Value cross_entropy_of_positions(Tape& tape, Value logits, Value targets);

/// Returns the mean over all positions of minus the logarithm at the target, for logarithms of
/// probabilities [..., s, v] and targets [n, s]. It must be what backward() begins with.
Value mean_nll(Tape& tape, Value logarithms, Value targets);

/// Returns minus the logarithm at the target of each position, [n, 1, s, 1].
Value nll_of_positions(Tape& tape, Value logarithms, Value targets);

}  // namespace howard::autograd
