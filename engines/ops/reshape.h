// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

/// The program of out = a's elements in row order under out's shape, in tile layout: data are
/// moved. (Tensor::view moves none.) Error when out has another number of elements or another data
/// type.
Program reshape(const Tensor& a, const Tensor& out);

/// The program of out = a in out's layout: tilize or untilize. Error when anything but the layout
/// differs, or the layout does not.
Program to_layout(const Tensor& a, const Tensor& out);

/// The program of out = a in another memory: in DRAM or L1, interleaved or sharded. Error when
/// anything but the memory differs.
Program to_memory(const Tensor& a, const Tensor& out);

}  // namespace howard::ops
