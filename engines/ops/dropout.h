// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

/// The program of out = x / (1 - probability), or 0 with that probability, the elements being
/// chosen by `seed` alone: the same call on dy is the backward pass. Error when out has another
/// spec or the probability is not in [0, 1).
///
/// `offset`: one uint32 on the device that is added to the seed when the program runs, wrapping;
/// null: none. Howard's own: ttnn's dropout takes its seed as a runtime argument only, which a
/// captured trace repeats.
Program dropout(const Tensor& x, float probability, std::uint32_t seed, const Tensor& out,
                const Tensor* offset = nullptr);

}  // namespace howard::ops
