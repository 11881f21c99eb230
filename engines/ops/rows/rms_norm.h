// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

// Each of these functions makes a program and throws Error when the specs do not fit.

/// Computes out = x / sqrt(mean of x^2 + epsilon) along the columns: ttnn's rms_norm.
Program rms_norm(const Tensor& x, float epsilon, const Tensor& out);
/// Computes out = gamma x / sqrt(mean of x^2 + epsilon), where gamma is one row: ttnn's rms_norm
/// with a weight.
Program rms_norm(const Tensor& x, const Tensor& gamma, float epsilon, const Tensor& out);

/// Computes the same and rms [..., 1], the root of each row. This is TTML's kernel, which keeps the
/// root for the backward pass.
Program rms_norm(const Tensor& x, const Tensor& gamma, float epsilon, const Tensor& out,
                 const Tensor& rms);

/// Computes dx from dy, and the terms (of x's spec) whose sum over the rows is the gradient of
/// gamma.
Program rms_norm_backward(const Tensor& x, const Tensor& gamma, const Tensor& rms, const Tensor& dy,
                          const Tensor& dx, const Tensor& dgamma_component);

/// Returns the spec of rms: a number for each row of x.
TensorSpec rms_output(const TensorSpec& x);

}  // namespace howard::ops
