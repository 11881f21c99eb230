// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

/// Returns the spec of `a` with `dimension` reduced to one.
TensorSpec reduce_output(Dimension dimension, const TensorSpec& a);

/// Makes the program that reduces a along `dimension`, with ttnn's own kernels or with the moreh
/// ones. Throws Error when `out` has another spec.
Program reduce(Reduction reduction, Dimension dimension, const Tensor& a, const Tensor& out,
               bool moreh = false);

/// Makes the program that sums a [n, heads, s, d] over its heads to out [n, 1, s, d]: moreh_sum
/// along the second dimension. Throws Error when out has another spec.
Program sum_heads(const Tensor& a, const Tensor& out);

}  // namespace howard::ops
