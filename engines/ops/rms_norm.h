// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

// Each function gives the program, and is an Error when the specs do not fit.

/// out = x / sqrt(mean of x^2 + epsilon), along the columns: ttnn's rms_norm.
Program rms_norm(const Tensor& x, float epsilon, const Tensor& out);
/// out = gamma x / sqrt(mean of x^2 + epsilon), gamma being one row: ttnn's rms_norm with a weight.
Program rms_norm(const Tensor& x, const Tensor& gamma, float epsilon, const Tensor& out);

/// The same, and rms [..., 1], the root of each row: TTML's kernel, which keeps it for the backward
/// pass.
Program rms_norm(const Tensor& x, const Tensor& gamma, float epsilon, const Tensor& out,
                 const Tensor& rms);

/// dx, and what is summed over the rows to the gradient of gamma (of x's spec), of dy.
Program rms_norm_backward(const Tensor& x, const Tensor& gamma, const Tensor& rms, const Tensor& dy,
                          const Tensor& dx, const Tensor& dgamma_component);

/// The spec of rms: a number for each row of x.
TensorSpec rms_output(const TensorSpec& x);

}  // namespace howard::ops
