// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

/// The program of out = x / (1 - probability), or 0 with that probability, the elements being
/// chosen by `seed` alone: the same call on dy is the backward pass. Error when out has another
/// spec or the probability is not in [0, 1).
Program dropout(const Tensor& x, float probability, std::uint32_t seed, const Tensor& out);

}  // namespace howard::ops
