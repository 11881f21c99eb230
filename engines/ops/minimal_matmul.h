// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

/// The program of out = a @ b by ttnn's minimal_matmul: b [k, n] has no batch, that of a is folded
/// into its rows. Error when the specs do not fit, and for blocks that ttnn refuses: empty ones,
/// and those that are no multiple of the sub-block.
Program minimal_matmul(const Tensor& a, const Tensor& b, const MinimalMatmulAttributes& attributes,
                       const Tensor& out);
/// The same plus a row of the result's columns.
Program minimal_matmul(const Tensor& a, const Tensor& b, const Tensor& bias,
                       const MinimalMatmulAttributes& attributes, const Tensor& out);

}  // namespace howard::ops
