// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "engines/autograd/calls.h"
#include "engines/autograd/parameter.h"

namespace howard::autograd {

/// Multiplies all gradients by most / (norm + 1e-6) where that is below 1, the
/// norm being the square root of the sum of the squares of all their elements, and gives the norm.
/// Reads it back from the device, so it can not be part of a recorded step; a device without values
/// gives 0. Error when the norm is not finite.
float clip_gradient_norm(const Calls& calls, std::span<Parameter* const> parameters, float most);

/// The same by programs alone, for a step that is recorded: the factor stays on the device, and a
/// norm that is not finite makes all parameters so.
void clip_gradients_on_device(const Calls& calls, std::span<Parameter* const> parameters,
                              float most);

}  // namespace howard::autograd
