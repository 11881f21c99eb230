// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "engines/autograd/tape.h"

namespace howard::autograd {

/// Computes gamma x / sqrt(mean of x^2 + epsilon) along the columns, with gamma [1, d], by TTML's
/// kernels. Forward is one program, which keeps the root of each row; backward is one program and a
/// sum over rows.
Value rms_norm(Tape& tape, Value x, Value gamma, float epsilon);

/// Computes the same by TTML's single calls: six forward, and eleven and two sums backward.
Value composed_rms_norm(Tape& tape, Value x, Value gamma, float epsilon);

/// Computes the same by the single calls of TTML's Qwen3, which multiply by the inverse root: six
/// forward, and ten backward, three of which reduce.
Value scaled_rms_norm(Tape& tape, Value x, Value gamma, float epsilon);

/// Returns `bias` and the sum of weights[i] times the norm, without gamma, of x^3, x^2 and x:
/// TTML's polynorm3.
Value polynomial_norm(Tape& tape, Value x, const std::array<float, 3>& weights, float bias,
                      float epsilon);

/// The angles of a rotary embedding: cosines and sines [s or more, d], and the sines of the
/// negative angles, which the backward pass uses.
struct RotaryTables {
  Value cosines, sines, negative_sines;
};

/// Rotates the points of each row of x [n, h, s, d]; the same program runs forward and backward.
Value rotary_embedding(Tape& tape, Value x, const RotaryTables& tables, RotaryStyle style);

}  // namespace howard::autograd
