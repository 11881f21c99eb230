// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "engines/device/program.h"

namespace howard {

// A collective is a program that all devices of a group run together. Its second operand is the
// group's handle, one uint32, row-major; which devices the group has is known to those who connect
// them. Otherwise it looks like the concatenation or the sum that it makes over the devices.

/// After an all_gather, each device has the tensors of all devices, side by side along one
/// dimension.
inline constexpr std::string_view kAllGather = "all_gather";
/// After a reduce_scatter, each device has its share, along one dimension, of the sum of all
/// devices' tensors.
inline constexpr std::string_view kReduceScatter = "reduce_scatter";

struct Collective {
  bool gathers = false;  ///< True for an all_gather, false for a reduce_scatter.
  int dimension = 3;     ///< One of the four dimensions.
  int devices = 1;
};

/// Returns what `program` does over several devices, or nothing if it runs on one device alone.
std::optional<Collective> collective_of(const Program& program);

}  // namespace howard
