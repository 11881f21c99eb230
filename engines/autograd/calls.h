// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "engines/device/device.h"
#include "engines/ops/tensor.h"
#include "engines/ops/training.h"

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
  ops::Tensor call(const Attributes& op, Inputs in) const;
  ops::Tensor call(const Attributes& op, Inputs in, const TensorSpec& result) const;
  /// Calls any op of the catalogue and returns all its results.
  std::vector<ops::Tensor> call(const ops::OpCall& op, std::span<const ops::Tensor> inputs) const;

  /// Says which factor is transposed.
  enum class Transposed { none, a, b };

  ops::Tensor matmul(const ops::Tensor& a, const ops::Tensor& b,
                     Transposed transposed = Transposed::none) const;
  /// Computes a @ b^T plus a row, in one program.
  ops::Tensor linear(const ops::Tensor& a, const ops::Tensor& b, const ops::Tensor& bias) const;

  ops::Tensor eltwise(Eltwise function, const ops::Tensor& a, const ops::Tensor& b) const {
    return call(eltwise_of(function), {a, b});
  }
  ops::Tensor eltwise(Eltwise function, const ops::Tensor& a, float scalar) const {
    return call(eltwise_of(function, scalar), {a}, a.spec());
  }
  ops::Tensor eltwise(Eltwise function, const ops::Tensor& a) const {
    return call(eltwise_of(function), {a}, a.spec());
  }
  /// Calls any function of the catalogue, with its numbers and what follows it in the same program.
  ops::Tensor eltwise(const EltwiseAttributes& attributes,
                      std::span<const ops::Tensor> values) const;
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
  ops::Tensor gelu_backward(const ops::Tensor& x, const ops::Tensor& dy, bool fused) const {
    return call(GeluBackwardAttributes{.fused = fused}, {x, dy});
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
  ops::Tensor concat(std::span<const ops::Tensor> parts) const;
  ops::Tensor concat_heads(const ops::Tensor& a) const {
    return call(ConcatHeadsAttributes{}, {a});
  }
  /// Returns `a` itself for a count of 1.
  ops::Tensor repeat_heads(const ops::Tensor& a, int count) const;
  ops::Tensor softmax(const ops::Tensor& a) const { return call(SoftmaxAttributes{}, {a}); }
  ops::Tensor softmax_backward(const ops::Tensor& y, const ops::Tensor& dy) const {
    return call(SoftmaxBackwardAttributes{}, {y, dy});
  }
  ops::Tensor rotary_embedding(const ops::Tensor& x, const ops::Tensor& cosines,
                               const ops::Tensor& sines, RotaryStyle style) const {
    return call(RotaryEmbeddingAttributes{.style = style}, {x, cosines, sines});
  }
  ops::Tensor dropout(const ops::Tensor& a, float probability, std::uint32_t seed,
                      const ops::Tensor* offset = nullptr) const;
  ops::Tensor embedding(const ops::Tensor& indices, const ops::Tensor& table) const {
    return call(EmbeddingAttributes{}, {indices, table});
  }
  ops::Tensor embedding_backward(const ops::Tensor& indices, const ops::Tensor& dy,
                                 std::int64_t vocabulary) const {
    return call(EmbeddingBackwardAttributes{}, {indices, dy},
                {{vocabulary, dy.spec().shape.columns()}, dy.spec().dtype});
  }
  ops::Tensor cross_entropy(const ops::Tensor& logits, const ops::Tensor& targets) const {
    return call(CrossEntropyAttributes{}, {logits, targets});
  }
  ops::Tensor cross_entropy_backward(const ops::Tensor& logits, const ops::Tensor& targets,
                                     float scale) const {
    return call(CrossEntropyBackwardAttributes{.scale = scale}, {logits, targets});
  }

 private:
  Device* device_;
  CommandQueue* queue_;
  CallOptions options_;
};

}  // namespace howard::autograd
