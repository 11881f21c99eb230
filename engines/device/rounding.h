// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "engines/program/tensor_spec.h"

namespace howard {

/// Rounds numbers to those that a tensor of `dtype` can hold, in rows of `width`: to the nearest,
/// ties to even. In bfloat8_b and bfloat4_b, 16 neighbours of a row share an exponent. float32 and
/// whole numbers stay as they are.
void round_to(DataType dtype, std::span<float> values, std::size_t width);

}  // namespace howard
