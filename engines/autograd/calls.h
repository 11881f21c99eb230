// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "engines/device/device.h"
#include "engines/ops/tensor.h"

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

  using Inputs = std::initializer_list<ops::Tensor>;
  /// Calls any op of one result, which follows from the operands or has the given spec.
  ops::Tensor call(const Attributes& op, std::span<const ops::Tensor> in) const;
  ops::Tensor call(const Attributes& op, Inputs in) const {
    return call(op, std::span(in.begin(), in.size()));
  }
  ops::Tensor call(const Attributes& op, Inputs in, const TensorSpec& result) const;
  /// Calls any op and returns all its results, which follow from the operands.
  std::vector<ops::Tensor> call_all(const Attributes& op, Inputs in) const;
  /// Calls any op of the catalogue and returns all its results.
  std::vector<ops::Tensor> call(const ops::OpCall& op, std::span<const ops::Tensor> inputs) const;

  /// Says which factor is transposed.
  enum class Transposed { none, a, b };

  ops::Tensor matmul(const ops::Tensor& a, const ops::Tensor& b,
                     Transposed transposed = Transposed::none) const;

  ops::Tensor eltwise(Eltwise function, const ops::Tensor& a, const ops::Tensor& b) const {
    return call(eltwise_of(function), {a, b});
  }
  ops::Tensor eltwise(Eltwise function, const ops::Tensor& a, float scalar) const {
    return call(eltwise_of(function, scalar), {a}, a.spec());
  }
  ops::Tensor eltwise(Eltwise function, const ops::Tensor& a) const {
    return call(eltwise_of(function), {a}, a.spec());
  }
  ops::Tensor add(const ops::Tensor& a, const ops::Tensor& b) const {
    return eltwise(Eltwise::add, a, b);
  }
  ops::Tensor subtract(const ops::Tensor& a, const ops::Tensor& b) const {
    return eltwise(Eltwise::subtract, a, b);
  }
  ops::Tensor multiply(const ops::Tensor& a, const ops::Tensor& b) const {
    return eltwise(Eltwise::multiply, a, b);
  }
  ops::Tensor multiply(const ops::Tensor& a, float scalar) const {
    return eltwise(Eltwise::multiply, a, scalar);
  }
  ops::Tensor fill(float value, const TensorSpec& spec) const {
    return call(eltwise_of(Eltwise::fill, value), {}, spec);
  }
  ops::Tensor cast(const ops::Tensor& a, DataType dtype) const {
    return call(eltwise_of(Eltwise::cast), {a}, {a.spec().shape, dtype, a.spec().layout});
  }

  ops::Tensor reduce(Reduction reduction, Dimension dimension, const ops::Tensor& a,
                     bool moreh = false) const {
    return call(ReduceAttributes{.reduction = reduction, .dimension = dimension, .moreh = moreh},
                {a});
  }
  ops::Tensor transpose(const ops::Tensor& a, Swap swap = Swap::rows_columns) const {
    return call(TransposeAttributes{.swap = swap}, {a});
  }
  ops::Tensor reshape(const ops::Tensor& a, const Shape& shape) const {
    return call(ReshapeAttributes{}, {a}, {shape, a.spec().dtype});
  }
  /// Returns `a` under another shape: for free where the elements stay in place, otherwise by a
  /// reshape.
  ops::Tensor as_shape(const ops::Tensor& a, const Shape& shape) const;
  /// Views [n, c, h, w] as [n c h, w].
  ops::Tensor rows_joined(const ops::Tensor& a) const;
  ops::Tensor to_layout(const ops::Tensor& a, Layout layout) const {
    return call(LayoutAttributes{.to = layout}, {a});
  }

 private:
  Device* device_;
  CommandQueue* queue_;
  CallOptions options_;
};

}  // namespace howard::autograd
