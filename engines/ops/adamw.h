// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

/// What AdamW keeps of each parameter, both of its shape, zero at first.
struct Moments {
  Tensor first;
  Tensor second;
};

/// The program of one step on `parameter` and its moments, in their places. Error when the shapes
/// differ or the step is not positive.
Program adamw(const Tensor& parameter, const Tensor& gradient, const Moments& moments,
              const AdamWAttributes& attributes);

}  // namespace howard::ops
