// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

/// Returns the spec of a @ b, in a's data type as ttnn does it; b may have another one. The
/// attributes say whether the operands are transposed. Either b or a has no batch, or both have the
/// same. Throws Error when inner dimensions or batches differ, and for whole numbers.
TensorSpec matmul_output(const TensorSpec& a, const TensorSpec& b,
                         const MatmulAttributes& attributes = {});

/// Makes the program that computes out = a @ b, in any data type of numbers that `out` has. Throws
/// Error when the three do not fit together.
Program matmul(const Tensor& a, const Tensor& b, const Tensor& out,
               const MatmulAttributes& attributes = {});

/// Makes the program that computes out = a @ b + bias, where the bias is a row. Throws Error as for
/// matmul.
Program linear(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out,
               const MatmulAttributes& attributes = {});

}  // namespace howard::ops
