// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

/// Holds what AdamW keeps for each parameter. The tensors have its shape and are zero at first.
struct Moments {
  Tensor first;
  Tensor second;
  std::optional<Tensor> largest{};       ///< With AdamWAttributes::amsgrad only.
  std::optional<Tensor> compensation{};  ///< With AdamWAttributes::kahan only.
};

/// Makes the program of one step that updates `parameter` and its moments in place. Throws Error
/// when the shapes differ, the step is not positive, a tensor that the attributes ask for is
/// missing or one is there that they do not, and for a parameter that is not bfloat16 with a
/// rounding_seed.
Program adamw(const Tensor& parameter, const Tensor& gradient, const Moments& moments,
              const AdamWAttributes& attributes);

}  // namespace howard::ops
