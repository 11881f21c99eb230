// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/autograd/tape.h"

namespace howard::autograd {

/// What is added to the variance; PyTorch's default.
inline constexpr float kLayernormEpsilon = 1e-5F;

/// gamma and beta, [1, d] each, on a tape.
struct LayernormValues {
  Value gamma;
  Value beta;
};

/// (x - mean) / sqrt(variance + epsilon) gamma + beta along the columns of x [n, s, d], by nine
/// elementwise and reducing calls, backward thirteen: what the report's GPT-2 does.
Value composed_layernorm(Tape& tape, Value x, const LayernormValues& scale, float epsilon);

/// The same by one program, backward by one and two sums: TTML's.
Value fused_layernorm(Tape& tape, Value x, const LayernormValues& scale, float epsilon);

}  // namespace howard::autograd
