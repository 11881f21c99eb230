// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

/// The spec of the losses, [n, s, 1], of logits [n, s, v] and targets [n, s]. Error when the
/// targets are not uint32 row-major or the shapes do not fit.
TensorSpec cross_entropy_output(const TensorSpec& logits, const TensorSpec& targets);

/// The program of out = log(sum of exp(logits)) - logit of the target, at each position. A target
/// outside the vocabulary is an Error when it runs, on a device that holds values. Error when the
/// specs do not fit.
Program cross_entropy(const Tensor& logits, const Tensor& targets, const Tensor& out);

/// The program of dlogits = scale (softmax(logits) - one at the target). Error as above.
Program cross_entropy_backward(const Tensor& logits, const Tensor& targets, float scale,
                               const Tensor& dlogits);

}  // namespace howard::ops
