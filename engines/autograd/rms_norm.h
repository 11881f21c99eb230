// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/autograd/tape.h"

namespace howard::autograd {

/// gamma x / sqrt(mean of x^2 + epsilon) along the columns, gamma [1, d], by TTML's kernels: one
/// program forward, which keeps the root of each row; one program and a sum over rows backward.
Value rms_norm(Tape& tape, Value x, Value gamma, float epsilon);

/// What a rotary embedding turns by: cosines and sines [s or more, d], and the sines of the
/// negative angles, by which the backward pass turns.
struct RotaryTables {
  Value cosines, sines, negative_sines;
};

/// x [n, h, s, d] with the points of each row turned; the same program forward and backward.
Value rotary_embedding(Tape& tape, Value x, const RotaryTables& tables, RotaryStyle style);

}  // namespace howard::autograd
