// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

/// Returns the spec of `a` with two dimensions swapped.
TensorSpec transpose_output(const TensorSpec& a, Swap swap);

/// Makes the program that swaps two dimensions of a. Throws Error when `out` has another spec.
Program transpose(const Tensor& a, const Tensor& out, Swap swap = Swap::rows_columns);

}  // namespace howard::ops
