// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

/// Holds what AdamW keeps for each parameter. Both tensors have its shape and are zero at first.
struct Moments {
  Tensor first;
  Tensor second;
};

/// Makes the program of one step that updates `parameter` and its moments in place. Throws Error
/// when the shapes differ or the step is not positive.
Program adamw(const Tensor& parameter, const Tensor& gradient, const Moments& moments,
              const AdamWAttributes& attributes);

}  // namespace howard::ops
