// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>

#include "engines/autograd/parameter.h"
#include "engines/autograd/tape.h"
#include "engines/reference/reference_device.h"

namespace howard::reference {

/// Writes numbers from a normal distribution times `scale`, which are the same for the same seed.
void fill_random(ReferenceDevice& device, const ops::Tensor& tensor, unsigned seed,
                 double scale = 1);

/// Runs `loss` forward and backward on a tape. Then it compares the gradient of every element of
/// every parameter with the central difference of the loss, in float64, and fails the test if they
/// differ by more than 1e-6 of the tensor's largest. It clears the gradients.
void expect_gradients(ReferenceDevice& device, std::span<autograd::Parameter* const> parameters,
                      const std::function<autograd::Value(autograd::Tape&)>& loss,
                      const autograd::TapeOptions& options = {});

}  // namespace howard::reference
