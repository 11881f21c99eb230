// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

/// The program of out = softmax of a along the columns. Error when out has another spec.
Program softmax(const Tensor& a, const Tensor& out);

/// The program of dx = y (dy - sum of y dy along the columns). Error when the specs differ.
Program softmax_backward(const Tensor& y, const Tensor& dy, const Tensor& dx);

}  // namespace howard::ops
