// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/tensor.h"

#include <gtest/gtest.h>

#include <new>
#include <optional>

#include "base/error.h"
#include "engines/device/forwarding_device.h"
#include "tests/engines/ops/op_test.h"

namespace howard::ops {
namespace {

using TensorView = OpTest;

TEST_F(TensorView, SharesTheBufferUnderAnotherShape) {
  const Tensor x = tensor({32, 256, 384});
  const Tensor view = x.view({8192, 384});
  EXPECT_EQ(view.buffer(), x.buffer());
  EXPECT_EQ(view.spec().shape, (Shape{8192, 384}));
  EXPECT_EQ(view.operand().spec.shape, (Shape{8192, 384}));
  EXPECT_EQ(x.spec().shape, (Shape{32, 256, 384})) << "the tensor itself is as before";
}

TEST_F(TensorView, KeepsTheBufferAlive) {
  std::optional<Tensor> x = tensor({64, 64});
  const Tensor view = x->view({2, 32, 64});
  x.reset();
  const Tensor other = tensor({64, 64});
  EXPECT_NE(other.buffer(), view.buffer());
}

/// Has no memory left to note what is released.
class FullDevice final : public ForwardingDevice {
 public:
  explicit FullDevice(Device& device) : ForwardingDevice(device) {}
  void release(BufferId /*buffer*/) override { throw std::bad_alloc(); }
};

TEST_F(TensorView, ThatCannotBeReleasedEndsNoProgram) {
  FullDevice full(device_);
  EXPECT_THROW(
      {
        const Tensor x(full, {.shape = {64, 64}});
        throw std::bad_alloc();
      },
      std::bad_alloc);
}

TEST_F(TensorView, ElementsInTilesMustStayWhereTheyAre) {
  const Tensor x = tensor({64, 64});
  EXPECT_THROW(x.view({64, 32}), Error) << "fewer elements";
  EXPECT_THROW(x.view({32, 128}), Error) << "another width";
  EXPECT_THROW(x.view({4, 16, 64}), Error) << "half tiles";
  EXPECT_THROW(tensor({4, 16, 64}).view({64, 64}), Error) << "rows of padding between";
}

TEST_F(TensorView, RowMajorElementsMayTakeAnyShape) {
  EXPECT_NO_THROW(indices({32, 256}).view({1, 8192}));
  EXPECT_THROW(indices({32, 256}).view({1, 8191}), Error);
}

}  // namespace
}  // namespace howard::ops
