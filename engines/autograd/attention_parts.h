// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/autograd/calls.h"

namespace howard::autograd {

// What the forms of attention have in common.

/// 1 / sqrt(d) of heads [n, h, s, d].
float attention_scale(const ops::Tensor& heads);

/// Where mask is 0, minus 1e9: mask scores + (mask - 1) 1e9.
ops::Tensor masked_scores(const Calls& calls, const ops::Tensor& mask, const ops::Tensor& scores);

/// [n, 1, s, h d] as `shape`, [n, h, s, d], by two transpositions: the inverse of joining heads.
ops::Tensor heads_of(const Calls& calls, const ops::Tensor& joined, const Shape& shape);

}  // namespace howard::autograd
