// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/rows.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "engines/chip/emulated_chip.h"

namespace howard::ops {
namespace {

TEST(Reduce, TheDimensionShrinksToOne) {
  const TensorSpec a{{2, 3, 64, 96}};
  EXPECT_EQ(reduce_output(Dimension::columns, a).shape, (Shape{2, 3, 64, 1}));
  EXPECT_EQ(reduce_output(Dimension::rows, a).shape, (Shape{2, 3, 1, 96}));
  EXPECT_EQ(reduce_output(Dimension::batch, a).shape, (Shape{64, 96}));
  EXPECT_EQ(reduce_output(Dimension::all, a).shape, (Shape{1}));
}

TEST(Reduce, AnOutputOfAnotherShapeIsAnError) {
  chip::EmulatedChip device(chip::load_profiles());
  const Tensor a(device, {{64, 96}});
  const Tensor row(device, {{1, 96}});
  EXPECT_EQ(reduce(Reduction::mean, Dimension::rows, a, row).name, "mean");
  EXPECT_THROW(reduce(Reduction::mean, Dimension::columns, a, row), Error);
}

}  // namespace
}  // namespace howard::ops
