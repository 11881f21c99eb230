// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

/// Makes the program that computes out = x / (1 - probability), or 0 with that probability. `seed`
/// alone chooses the elements, so the same call on dy is the backward pass. Throws Error when out
/// has another spec or the probability is not in [0, 1).
///
/// `offset` is one uint32 on the device that is added to the seed when the program runs, wrapping;
/// null means none. This is Howard's own: ttnn's dropout takes its seed as a runtime argument only,
/// which a captured trace repeats.
Program dropout(const Tensor& x, float probability, std::uint32_t seed, const Tensor& out,
                const Tensor* offset = nullptr);

}  // namespace howard::ops
