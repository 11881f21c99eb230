// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/matmul/swiglu.h"

#include "engines/ops/check.h"

namespace howard::ops {

Program swiglu(const Tensor& x, const SwigluWeights& weights, const Tensor& out) {
  const TensorSpec& spec = x.spec();
  const std::int64_t width = spec.shape.columns();
  const std::int64_t hidden = weights.gate.spec().shape.rows();
  const auto is_matrix = [&](const Tensor& weight, const Shape& shape) {
    return weight.spec().shape == shape && weight.spec().dtype == spec.dtype;
  };
  if (!is_real(spec) || !is_matrix(weights.gate, {hidden, width}) ||
      !is_matrix(weights.up, {hidden, width}) || !is_matrix(weights.down, {width, hidden})) {
    refuse("swiglu", {spec, weights.gate.spec(), weights.down.spec(), weights.up.spec()},
           "x [.., d], and weights [f, d], [d, f] and [f, d] of its data type");
  }
  require_output("swiglu", out, spec);
  return {
      .name = "swiglu",
      .attributes = SwigluAttributes{},
      .inputs = {x.operand(), weights.gate.operand(), weights.down.operand(), weights.up.operand()},
      .outputs = {out.operand()},
      .flops = Flops(3 * 2 * spec.shape.elements() * hidden)};
}

}  // namespace howard::ops
