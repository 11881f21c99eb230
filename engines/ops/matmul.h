// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

/// The spec of a @ b in a's data type, the operands taken as the attributes say. b has no batch, or
/// a has none, or both the same. Error when inner dimensions, batches or data types differ.
TensorSpec matmul_output(const TensorSpec& a, const TensorSpec& b,
                         const MatmulAttributes& attributes = {});

/// The program of out = a @ b. Error when the three do not fit together.
Program matmul(const Tensor& a, const Tensor& b, const Tensor& out,
               const MatmulAttributes& attributes = {});

/// The program of out = a @ b + bias, the bias being a row. Error as for matmul.
Program linear(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out,
               const MatmulAttributes& attributes = {});

}  // namespace howard::ops
