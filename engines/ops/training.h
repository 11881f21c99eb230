// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "engines/ops/tensor.h"

namespace howard::ops {

// These make programs of training. Each throws Error when the tensors do not fit together.

/// Computes out = x / (1 - probability), or 0 with that probability. `seed` alone chooses the
/// elements, so the same call on dy is the backward pass.
///
/// `offset` is one uint32 on the device that is added to the seed when the program runs, wrapping;
/// null means none. This is Howard's own: ttnn's dropout takes its seed as a runtime argument only,
/// which a captured trace repeats.
Program dropout(const Tensor& x, float probability, std::uint32_t seed, const Tensor& out,
                const Tensor* offset = nullptr);

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
