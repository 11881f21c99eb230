// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "engines/autograd/calls.h"
#include "engines/autograd/parameter.h"

namespace howard::autograd {

/// Multiplies all gradients by most / (norm + 1e-6) if that is below 1, and returns the norm: the
/// square root of the sum of the squares of all their elements. It reads the norm back from the
/// device, so it cannot be part of a recorded step. A device without values gives 0. Throws Error
/// when the norm is not finite.
float clip_gradient_norm(const Calls& calls, std::span<Parameter* const> parameters, float most);

/// Does the same by programs alone, for a step that is recorded: the factor stays on the device,
/// and a norm that is not finite makes all parameters so.
void clip_gradients_on_device(const Calls& calls, std::span<Parameter* const> parameters,
                              float most);

}  // namespace howard::autograd
