// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

/// Makes the program that rotates the points of each row of x by the angles of its place in the
/// sequence. `cosines` and `sines` [s or more, d] hold each angle's value at both of a point's
/// columns. The backward pass is the same program with the sines of the negative angles. Throws
/// Error when out has another spec than x [n, h, s, d], d is odd, or the tables do not fit.
Program rotary_embedding(const Tensor& x, const Tensor& cosines, const Tensor& sines,
                         RotaryStyle style, const Tensor& out);

}  // namespace howard::ops
