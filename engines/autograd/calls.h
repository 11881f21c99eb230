// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "engines/device/device.h"
#include "engines/ops/rows/layernorm.h"
#include "engines/ops/tensor.h"
#include "engines/ops/training/adamw.h"

namespace howard::ops {
struct OpCall;
}  // namespace howard::ops

namespace howard::autograd {

struct CallOptions {
  /// Says how matrices are multiplied. The transpositions are ignored here, because each call has
  /// its own.
  MatmulAttributes products;
  int queue = 0;
  /// If true, the calls stand for calls from Python; an emulated device then adds Python's host
  /// time.
  bool from_python = false;
};

/// Calls ops the way ttnn does: each call allocates its result and enqueues one program. It throws
/// the errors of the ops and of the device.
class Calls {
 public:
  explicit Calls(Device& device, const CallOptions& options = {})
      : device_(&device), queue_(&device.command_queue(options.queue)), options_(options) {}

  Device& device() const { return *device_; }
  CommandQueue& queue() const { return *queue_; }

  ops::Tensor make(const TensorSpec& spec) const { return {*device_, spec}; }
  void run(const Program& program) const {
    if (options_.from_python) device_->host_work(HostWork::python_call, 1);
    queue_->enqueue(program);
  }

  /// Says which factor is transposed.
  enum class Transposed { none, a, b };

  ops::Tensor matmul(const ops::Tensor& a, const ops::Tensor& b,
                     Transposed transposed = Transposed::none) const;
  /// Computes a @ b^T plus a row, in one program.
  ops::Tensor linear(const ops::Tensor& a, const ops::Tensor& b, const ops::Tensor& bias) const;

  ops::Tensor eltwise(Eltwise function, const ops::Tensor& a, const ops::Tensor& b) const;
  ops::Tensor eltwise(Eltwise function, const ops::Tensor& a, float scalar) const;
  ops::Tensor eltwise(Eltwise function, const ops::Tensor& a) const;
  /// Calls any function of the catalogue, with its numbers and what follows it in the same program.
  ops::Tensor eltwise(const EltwiseAttributes& attributes,
                      std::span<const ops::Tensor> values) const;
  /// Calls any op of the catalogue and returns all its results.
  std::vector<ops::Tensor> call(const ops::OpCall& op, std::span<const ops::Tensor> inputs) const;
  ops::Tensor add(const ops::Tensor& a, const ops::Tensor& b) const;
  ops::Tensor subtract(const ops::Tensor& a, const ops::Tensor& b) const;
  ops::Tensor multiply(const ops::Tensor& a, const ops::Tensor& b) const;
  ops::Tensor multiply(const ops::Tensor& a, float scalar) const;
  ops::Tensor fill(float value, const TensorSpec& spec) const;
  ops::Tensor cast(const ops::Tensor& a, DataType dtype) const;
  ops::Tensor gelu_backward(const ops::Tensor& x, const ops::Tensor& dy, bool fused) const;

  ops::Tensor reduce(Reduction reduction, Dimension dimension, const ops::Tensor& a,
                     bool moreh = false) const;
  ops::Tensor transpose(const ops::Tensor& a, Swap swap = Swap::rows_columns) const;
  ops::Tensor reshape(const ops::Tensor& a, const Shape& shape) const;
  /// Returns `a` under another shape: for free where the elements stay in place, otherwise by a
  /// reshape.
  ops::Tensor as_shape(const ops::Tensor& a, const Shape& shape) const;
  /// Views [n, c, h, w] as [n c h, w].
  ops::Tensor rows_joined(const ops::Tensor& a) const;
  ops::Tensor to_layout(const ops::Tensor& a, Layout layout) const;
  ops::Tensor concat(std::span<const ops::Tensor> parts) const;
  ops::Tensor concat_heads(const ops::Tensor& a) const;
  /// Returns `a` itself for a count of 1.
  ops::Tensor repeat_heads(const ops::Tensor& a, int count) const;
  ops::Tensor softmax(const ops::Tensor& a) const;
  ops::Tensor softmax_backward(const ops::Tensor& y, const ops::Tensor& dy) const;
  ops::Tensor rotary_embedding(const ops::Tensor& x, const ops::Tensor& cosines,
                               const ops::Tensor& sines, RotaryStyle style) const;
  ops::Tensor dropout(const ops::Tensor& a, float probability, std::uint32_t seed,
                      const ops::Tensor* offset = nullptr) const;
  ops::Tensor embedding(const ops::Tensor& indices, const ops::Tensor& table) const;
  ops::Tensor embedding_backward(const ops::Tensor& indices, const ops::Tensor& dy,
                                 std::int64_t vocabulary) const;
  ops::Tensor cross_entropy(const ops::Tensor& logits, const ops::Tensor& targets) const;
  ops::Tensor cross_entropy_backward(const ops::Tensor& logits, const ops::Tensor& targets,
                                     float scale) const;

 private:
  Device* device_;
  CommandQueue* queue_;
  CallOptions options_;
};

}  // namespace howard::autograd
