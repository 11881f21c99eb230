// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

// The devices of a group run these programs together (engines/device/collective.h). `group` is the
// group's handle on this device: one uint32, row-major.

/// Returns the spec of `devices` tensors like `part` side by side along `dimension`, 0 to 3.
TensorSpec all_gather_output(const TensorSpec& part, int devices, int dimension);
/// Makes the program that puts the devices' parts side by side, in the order of the devices. Throws
/// Error when `whole` is not several of `part` along `dimension`.
Program all_gather(const Tensor& part, const Tensor& group, int dimension, const Tensor& whole);

/// Returns the spec of a device's share of `whole` along its rows or its columns. Throws Error when
/// the devices do not divide them.
TensorSpec reduce_scatter_output(const TensorSpec& whole, int devices, Dimension dimension);
/// Makes the program that adds the devices' tensors and leaves each device its share, along rows or
/// columns. Throws Error when `part` is no share of `whole`.
Program reduce_scatter(const Tensor& whole, const Tensor& group, Dimension dimension,
                       const Tensor& part);

}  // namespace howard::ops
