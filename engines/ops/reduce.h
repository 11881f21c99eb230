// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

/// `a` with `dimension` shrunk to one.
TensorSpec reduce_output(Dimension dimension, const TensorSpec& a);

/// The program of out = reduction of a along `dimension`, by ttnn's own kernels or by the moreh
/// ones. Error when `out` has another spec.
Program reduce(Reduction reduction, Dimension dimension, const Tensor& a, const Tensor& out,
               bool moreh = false);

}  // namespace howard::ops
