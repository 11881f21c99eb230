// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

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

/// Says what makes the gradient of a mean cross-entropy's logits.
enum class SlopeForm : std::uint8_t {
  kernel,      ///< Its kernel, with the gradient of the loss as one of its numbers.
  multiplied,  ///< Its kernel and a product of all slopes and that gradient, as in TTML of 2026.
  given,       ///< The same, where the gradient is a tensor already and need not be filled.
};

/// Returns the mean over all positions of log(sum of exp(logits)) - logit of the target, for logits
/// [..., s, v] and targets [n, s]. Like TTML, it fills a tensor with the gradient of the loss,
/// which nothing reads unless slopes are multiplied. It must be what backward() begins with, unless
/// the form is `given`. With `of_logarithms` it is TTML's nll_loss: the mean of minus the operand
/// at the target.
Value mean_cross_entropy(Tape& tape, Value logits, Value targets,
                         SlopeForm form = SlopeForm::kernel, bool of_logarithms = false);

}  // namespace howard::autograd
