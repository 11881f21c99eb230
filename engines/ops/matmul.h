// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

/// The spec of a @ b: [batch, m, k] @ [k, n] = [batch, m, n] in a's data type, the operands taken
/// as the attributes say. Error when the inner dimensions or the data types differ, or when b has a
/// batch.
TensorSpec matmul_output(const TensorSpec& a, const TensorSpec& b,
                         const MatmulAttributes& attributes = {});

/// The program of out = a @ b. Error when the three do not fit together.
Program matmul(const Tensor& a, const Tensor& b, const Tensor& out,
               const MatmulAttributes& attributes = {});

}  // namespace howard::ops
