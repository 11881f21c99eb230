// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

/// Returns the spec of function(a, b) under ttnn's broadcasting; bfloat16 with float32 gives
/// float32. Throws Error when shapes, layouts or other data types do not fit, or when the function
/// does not take two values.
TensorSpec eltwise_output(Eltwise function, const TensorSpec& a, const TensorSpec& b);

// Each of these functions makes the program that computes out = ... Each throws Error when `out`
// has another spec than the result, or when the function takes another number of values.

Program eltwise(Eltwise function, const Tensor& a, const Tensor& b, const Tensor& out);
Program eltwise(Eltwise function, const Tensor& a, float scalar, const Tensor& out);
Program eltwise(Eltwise function, const Tensor& a, const Tensor& out);

/// Returns the spec of the function in `attributes`, of as many tensors as it takes values, or of
/// one less and a scalar. Throws Error as above, when a function that follows or goes before does
/// not take one value, and when one goes before a second tensor that is missing.
TensorSpec eltwise_output(const EltwiseAttributes& attributes, std::span<const TensorSpec> values);
/// Makes the program of that function of `values`, with its numbers and the functions around it.
Program eltwise(const EltwiseAttributes& attributes, std::span<const Tensor> values,
                const Tensor& out);
Program fill(float value, const Tensor& out);
/// Computes out = a, converted to out's data type.
Program cast(const Tensor& a, const Tensor& out);
/// Computes dx = dy times the derivative of the exact gelu at x.
Program gelu_backward(const Tensor& x, const Tensor& dy, bool fused, const Tensor& dx);

}  // namespace howard::ops
