// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engines/autograd/tape.h"

namespace howard::autograd {

/// A group of devices, as one of them sees it. All of them must make the same collective calls in
/// the same order.
class DeviceGroup {
 public:
  /// `number` names the group to those who connect the devices; `place` is this device's place in
  /// the group, from 0. Throws Error when the device has no memory left.
  DeviceGroup(Device& device, std::uint32_t number, int devices, int place);

  int devices() const { return devices_; }
  int place() const { return place_; }
  const ops::Tensor& handle() const { return handle_; }

 private:
  ops::Tensor handle_;
  int devices_, place_;
};

/// Returns the devices' parts side by side along `dimension`, 0 to 3.
ops::Tensor all_gather(const Calls& calls, const ops::Tensor& part, const DeviceGroup& group,
                       int dimension = 3);

/// Returns this device's part, along the rows or the columns, of the sum of the devices' tensors.
ops::Tensor reduce_scatter(const Calls& calls, const ops::Tensor& x, const DeviceGroup& group,
                           Dimension dimension);

/// Returns the sum of the devices' tensors on each of them. As TTML does it, this is a
/// reduce_scatter and an all_gather along the last dimension whose tiles the devices divide; where
/// there is none, it is an all_gather and moreh_sum over the copies.
ops::Tensor all_reduce(const Calls& calls, const ops::Tensor& x, const DeviceGroup& group);

// Functions of tensor-parallel layers. `group` may be null, which stands for one device alone; it
// must outlive the tape.

/// Returns x itself, which every device uses in its own way: the gradient is summed over the
/// devices. TTML calls this broadcast.
Value shared_input(Tape& tape, Value x, const DeviceGroup* group);
/// Returns the sum of the devices' values; the gradient of each device's value is that of the sum.
Value summed_output(Tape& tape, Value x, const DeviceGroup* group);
/// Returns the devices' columns side by side. All devices compute the same from them, so the
/// gradient of a device's columns is cut out of the whole gradient.
Value gathered_columns(Tape& tape, Value x, const DeviceGroup* group);

// Functions of sequence parallelism, in which each device has its own rows of activations
// [b, 1, s, w] outside of the layers that tensor parallelism divides. The devices must divide the
// rows in whole tiles.

/// Returns the devices' rows below each other, which each device then uses in its own way: the
/// gradient is summed over the devices, and each gets its own rows of it.
Value gathered_rows(Tape& tape, Value x, const DeviceGroup& group);
/// Returns this device's rows of the sum of the devices' values.
Value summed_rows(Tape& tape, Value x, const DeviceGroup& group);
/// Returns this device's rows of a value that is the same on all devices.
Value own_rows(Tape& tape, Value x, const DeviceGroup& group);

}  // namespace howard::autograd
