// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/ops/tensor.h"

namespace howard::ops {

// The devices of a group run the first two together. `group` is the group's handle on this device:
// one uint32, row-major; `peer` is that of another device. Each throws Error when the tensors do
// not fit together.

/// Returns the spec of `devices` tensors like `part` side by side along `dimension`, 0 to 3.
TensorSpec all_gather_output(const TensorSpec& part, int devices, int dimension);
/// Puts the devices' parts side by side, in the order of the devices.
inline Program all_gather(const Tensor& part, const Tensor& group, int dimension,
                          const Tensor& whole) {
  return make_program(AllGatherAttributes{.dimension = dimension},
                      {part.operand(), group.operand()}, {whole.operand()});
}

/// Returns the spec of a device's share of `whole` along its rows or its columns. Throws Error when
/// the devices do not divide them.
TensorSpec reduce_scatter_output(const TensorSpec& whole, int devices, Dimension dimension);
/// Adds the devices' tensors and leaves each device its share, along rows or columns.
inline Program reduce_scatter(const Tensor& whole, const Tensor& group, Dimension dimension,
                              const Tensor& part) {
  return make_program(ReduceScatterAttributes{.dimension = dimension},
                      {whole.operand(), group.operand()}, {part.operand()});
}

/// One device sends what another one receives.
inline Program send(const Tensor& tensor, const Operand& peer) {
  return make_program(SendAttributes{}, {tensor.operand()}, {peer});
}
inline Program receive(const Operand& peer, const Tensor& tensor) {
  return make_program(ReceiveAttributes{}, {peer}, {tensor.operand()});
}

}  // namespace howard::ops
