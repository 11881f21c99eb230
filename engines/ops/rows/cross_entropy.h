// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

/// Returns the spec of the losses, [n, s, 1], for logits [n, s, v] and targets [n, s]. Throws Error
/// when the targets are not uint32 row-major or the shapes do not fit.
TensorSpec cross_entropy_output(const TensorSpec& logits, const TensorSpec& targets);

/// Makes the program that computes out = log(sum of exp(logits)) - logit of the target, at each
/// position. Throws Error when the specs do not fit. On a device that holds values, running it
/// throws Error for a target outside the vocabulary.
Program cross_entropy(const Tensor& logits, const Tensor& targets, const Tensor& out);

/// Makes the program that computes dlogits = scale (softmax(logits) - one at the target). Throws
/// Error as above.
Program cross_entropy_backward(const Tensor& logits, const Tensor& targets, float scale,
                               const Tensor& dlogits);

/// Makes the program that takes minus the logarithm of the target's probability, at each position,
/// from logarithms of the shape of logits. Throws Error as above.
Program nll_loss(const Tensor& logarithms, const Tensor& targets, const Tensor& out);

/// Makes the program that writes -scale at the target and 0 elsewhere. `logarithms` gives the shape
/// alone. Throws Error as above.
Program nll_loss_backward(const Tensor& logarithms, const Tensor& targets, float scale,
                          const Tensor& dlogarithms);

}  // namespace howard::ops
