// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

/// Makes the program that computes the softmax of a along the columns. Throws Error when out has
/// another spec.
Program softmax(const Tensor& a, const Tensor& out);

/// Makes the program that computes dx = y (dy - sum of y dy along the columns). Throws Error when
/// the specs differ.
Program softmax_backward(const Tensor& y, const Tensor& dy, const Tensor& dx);

}  // namespace howard::ops
