// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

/// Makes the program of out = a @ b by ttnn's minimal_matmul: b [k, n] has no batch, and that of a
/// is folded into its rows. Throws Error when the specs do not fit, and for blocks that ttnn
/// refuses: empty ones, and those that are not a multiple of the sub-block.
Program minimal_matmul(const Tensor& a, const Tensor& b, const MinimalMatmulAttributes& attributes,
                       const Tensor& out);
/// Also adds a row of the result's columns.
Program minimal_matmul(const Tensor& a, const Tensor& b, const Tensor& bias,
                       const MinimalMatmulAttributes& attributes, const Tensor& out);

}  // namespace howard::ops
