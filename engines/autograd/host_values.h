// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "engines/device/device.h"
#include "engines/ops/tensor.h"

namespace howard::autograd {

// Between the host's floats and a tensor's elements, row by row. bfloat16 is rounded to nearest,
// ties to even. Error for indices and block formats, and for another number of values than the
// tensor has elements: a changed shape.

void write_values(CommandQueue& queue, const ops::Tensor& tensor, std::span<const float> values);
/// Every element the same.
void write_constant(CommandQueue& queue, const ops::Tensor& tensor, float value);
/// Error when an earlier command failed. A device without values gives zeros.
std::vector<float> read_values(CommandQueue& queue, const ops::Tensor& tensor);

/// Indices, to a uint32 tensor. Error as above.
void write_indices(CommandQueue& queue, const ops::Tensor& tensor,
                   std::span<const std::uint32_t> values);

}  // namespace howard::autograd
