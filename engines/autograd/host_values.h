// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "engines/device/device.h"
#include "engines/ops/tensor.h"

namespace howard::autograd {

// These functions copy between the host's floats and a tensor's elements, row by row. bfloat16 is
// rounded to nearest, ties to even. They throw Error for indices and block formats, and when the
// number of values differs from the tensor's number of elements (a changed shape).

void write_values(CommandQueue& queue, const ops::Tensor& tensor, std::span<const float> values);
/// Sets every element to `value`.
void write_constant(CommandQueue& queue, const ops::Tensor& tensor, float value);
/// Throws Error when an earlier command failed. A device without values gives zeros.
std::vector<float> read_values(CommandQueue& queue, const ops::Tensor& tensor);

/// Writes indices to a uint32 tensor. Throws Error as above.
void write_indices(CommandQueue& queue, const ops::Tensor& tensor,
                   std::span<const std::uint32_t> values);

}  // namespace howard::autograd
