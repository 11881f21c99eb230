// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

/// The program of out = a with rows and columns swapped. Error when `out` has another spec.
Program transpose(const Tensor& a, const Tensor& out);

}  // namespace howard::ops
