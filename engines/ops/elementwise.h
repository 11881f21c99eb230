// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "engines/ops/tensor.h"

namespace howard::ops {

// These make programs that compute each element by itself. Each throws Error when the tensors do
// not fit together, or when the function takes another number of values.

/// Returns the function with its default numbers.
EltwiseAttributes eltwise_of(Eltwise function, std::optional<float> scalar = {});

/// Returns the spec of the function of `values`, under ttnn's broadcasting; bfloat16 with float32
/// gives float32.
inline TensorSpec eltwise_output(const EltwiseAttributes& attributes, Specs values) {
  return results_of(attributes, values).at(0);
}
inline TensorSpec eltwise_output(Eltwise function, const TensorSpec& a, const TensorSpec& b) {
  return eltwise_output(eltwise_of(function), std::array{a, b});
}

Program eltwise(const EltwiseAttributes& attributes, std::span<const Tensor> values,
                const Tensor& out);
inline Program eltwise(Eltwise function, const Tensor& a, const Tensor& b, const Tensor& out) {
  return make_program(eltwise_of(function), {a.operand(), b.operand()}, {out.operand()});
}
inline Program eltwise(Eltwise function, const Tensor& a, float scalar, const Tensor& out) {
  return make_program(eltwise_of(function, scalar), {a.operand()}, {out.operand()});
}
inline Program eltwise(Eltwise function, const Tensor& a, const Tensor& out) {
  return make_program(eltwise_of(function), {a.operand()}, {out.operand()});
}
inline Program fill(float value, const Tensor& out) {
  return make_program(eltwise_of(Eltwise::fill, value), {}, {out.operand()});
}
/// Computes out = a, converted to out's data type.
inline Program cast(const Tensor& a, const Tensor& out) { return eltwise(Eltwise::cast, a, out); }
/// Computes dx = dy times the derivative of the exact gelu at x.
inline Program gelu_backward(const Tensor& x, const Tensor& dy, bool fused, const Tensor& dx) {
  return make_program(GeluBackwardAttributes{.fused = fused}, {x.operand(), dy.operand()},
                      {dx.operand()});
}
/// Computes the gradients of gate and up, where y = silu(gate) up.
inline Program swiglu_backward(const Tensor& gate, const Tensor& up, const Tensor& dy,
                               const Tensor& dgate, const Tensor& dup) {
  return make_program(SwigluBackwardAttributes{}, {gate.operand(), up.operand(), dy.operand()},
                      {dgate.operand(), dup.operand()});
}

}  // namespace howard::ops
