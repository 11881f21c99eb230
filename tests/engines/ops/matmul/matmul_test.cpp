// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/matmul.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "engines/chip/emulated_chip.h"

namespace howard::ops {
namespace {

TEST(Matmul, OutputTakesRowsOfAAndColumnsOfB) {
  const TensorSpec out = matmul_output({{2, 3, 64, 96}}, {{96, 128}});
  EXPECT_EQ(out.shape, (Shape{2, 3, 64, 128}));
}

TEST(Matmul, TransposedOperandsAreTakenWithRowsAndColumnsSwapped) {
  EXPECT_EQ(matmul_output({{64, 96}}, {{128, 96}}, {.transpose_b = true}).shape, (Shape{64, 128}));
  EXPECT_EQ(matmul_output({{96, 64}}, {{96, 128}}, {.transpose_a = true}).shape, (Shape{64, 128}));
  EXPECT_THROW(matmul_output({{64, 96}}, {{96, 128}}, {.transpose_b = true}), Error);
  chip::EmulatedChip device(chip::load_profiles());
  const Tensor a(device, {{96, 64}});
  const Tensor b(device, {{96, 128}});
  const Tensor out(device, {{64, 128}});
  const Program program = matmul(a, b, out, {.transpose_a = true});
  EXPECT_EQ(program.flops, Flops(2LL * 64 * 96 * 128));
  EXPECT_EQ(device.explain(program).matmul->k, 3) << "tiles of the inner dimension";
}

TEST(Matmul, MatricesThatDoNotFitAreErrors) {
  EXPECT_THROW(matmul_output({{64, 96}}, {{64, 96}}), Error);
  EXPECT_THROW(matmul_output({{3, 64, 96}}, {{2, 96, 64}}), Error) << "different batches";
  EXPECT_THROW(matmul_output({{2, 3, 64, 96}}, {{3, 2, 96, 64}}), Error) << "as many, other order";
  EXPECT_THROW(matmul_output({{64, 96}, DataType::uint32}, {{96, 64}}), Error) << "indices";
  EXPECT_THROW(matmul_output({{64, 96}}, {{96, 64}, DataType::uint32}), Error) << "indices";
}

TEST(Matmul, EitherOperandOrBothMayHaveTheBatch) {
  const TensorSpec expected{{2, 64, 128}};
  EXPECT_EQ(matmul_output({{2, 64, 96}}, {{96, 128}}), expected);
  EXPECT_EQ(matmul_output({{64, 96}}, {{2, 96, 128}}), expected);
  EXPECT_EQ(matmul_output({{2, 64, 96}}, {{2, 96, 128}}), expected);
}

TEST(Matmul, ProgramCountsItsFlopsAndOperands) {
  chip::EmulatedChip device(chip::load_profiles());
  const Tensor a(device, {{2, 64, 96}});
  const Tensor b(device, {{96, 128}});
  const Tensor out(device, {{2, 64, 128}});
  const Program program = matmul(a, b, out);
  EXPECT_EQ(program.flops, Flops(2LL * 2 * 64 * 96 * 128));
  EXPECT_EQ(program.inputs[0].buffer, a.buffer());
  EXPECT_EQ(program.inputs[1].buffer, b.buffer());
  EXPECT_EQ(program.outputs[0].buffer, out.buffer());
  EXPECT_THROW(matmul(a, b, a), Error) << "an output of another shape";
}

TEST(Tensor, ItsLastCopyReleasesTheBuffer) {
  chip::EmulatedChip device(chip::load_profiles());
  BufferId buffer{};
  {
    const Tensor tensor(device, {{32, 32}});
    const Tensor copy = tensor;
    buffer = copy.buffer();
    EXPECT_EQ(tensor.buffer(), buffer);
  }
  EXPECT_THROW(device.release(buffer), Error) << "it is already released";
}

}  // namespace
}  // namespace howard::ops
