// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/autograd/tape.h"

namespace howard::autograd {

/// The number that is added to the variance: PyTorch's default.
inline constexpr float kLayernormEpsilon = 1e-5F;

/// The values of gamma and beta, [1, d] each, on a tape.
struct LayernormValues {
  Value gamma;
  Value beta;
};

/// Computes (x - mean) / sqrt(variance + epsilon) gamma + beta along the columns of x [n, s, d], as
/// the report's GPT-2 does: with nine elementwise and reducing calls forward and thirteen backward.
Value composed_layernorm(Tape& tape, Value x, const LayernormValues& scale, float epsilon);

/// Computes the same as TTML does: with one program forward, and one program and two sums backward.
Value fused_layernorm(Tape& tape, Value x, const LayernormValues& scale, float epsilon);

}  // namespace howard::autograd
