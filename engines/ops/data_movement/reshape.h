// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

/// Makes the program that copies a's elements in row order to out's shape, in tile layout. It moves
/// data (Tensor::view moves none). Throws Error when out has another number of elements or another
/// data type.
Program reshape(const Tensor& a, const Tensor& out);

/// Makes the program that converts a to out's layout (tilize or untilize). Throws Error unless the
/// layout differs and nothing else does.
Program to_layout(const Tensor& a, const Tensor& out);

/// Makes the program that copies a to another memory: DRAM or L1, interleaved or sharded. Throws
/// Error when anything but the memory differs.
Program to_memory(const Tensor& a, const Tensor& out);

}  // namespace howard::ops
