// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "engines/ops/tensor.h"

namespace howard::ops {

// These make the programs that update a parameter. Each throws Error when the tensors do not fit
// together.

/// Holds what AdamW keeps for each parameter. The tensors have its shape and are zero at first.
struct Moments {
  Tensor first;
  Tensor second;
  std::optional<Tensor> largest{};       ///< With AdamWAttributes::amsgrad only.
  std::optional<Tensor> compensation{};  ///< With AdamWAttributes::kahan only.
};

/// Updates `parameter` and its moments in place.
Program adamw(const Tensor& parameter, const Tensor& gradient, const Moments& moments,
              const AdamWAttributes& attributes);

/// Updates `parameter`, and `buffer` if there is a momentum, in place.
Program sgd(const Tensor& parameter, const Tensor& gradient, const std::optional<Tensor>& buffer,
            const SgdAttributes& attributes);

}  // namespace howard::ops
