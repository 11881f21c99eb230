// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include "engines/chip/emulated_chip.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

/// Has tensors on a device that keeps no values.
class OpTest : public ::testing::Test {
 protected:
  Tensor tensor(const Shape& shape, DataType dtype = DataType::bfloat16,
                Layout layout = Layout::tile) {
    return {device_, {shape, dtype, layout}};
  }
  Tensor row_major(const Shape& shape, DataType dtype = DataType::bfloat16) {
    return tensor(shape, dtype, Layout::row_major);
  }
  Tensor indices(const Shape& shape) { return row_major(shape, DataType::uint32); }

  chip::EmulatedChip device_{chip::load_profiles()};
};

}  // namespace howard::ops
