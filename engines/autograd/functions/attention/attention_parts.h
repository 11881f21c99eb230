// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/autograd/calls.h"

namespace howard::autograd {

// The forms of attention have these functions in common.

/// Returns 1 / sqrt(d) of heads [n, h, s, d].
float attention_scale(const ops::Tensor& heads);

/// Computes mask scores + (mask - 1) 1e9, which is minus 1e9 where the mask is 0.
ops::Tensor masked_scores(const Calls& calls, const ops::Tensor& mask, const ops::Tensor& scores);

}  // namespace howard::autograd
