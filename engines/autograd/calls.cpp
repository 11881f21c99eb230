// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/calls.h"

#include <array>
#include <utility>

#include "engines/ops/catalogue.h"
#include "engines/ops/tensor.h"

namespace howard::autograd {

using ops::Tensor;

Tensor Calls::call(const Attributes& op, std::span<const Tensor> in) const {
  // The result is what follows from the operands, so that the program needs no further check.
  std::vector<Operand> operands = ops::operands_of(in);
  const SpecList specs = specs_of(operands);
  Tensor out = make(results_of(op, specs).at(0));
  const Flops flops = flops_of(op, specs, std::array{out.spec()});
  run({.name = shown_name_of(op, specs),
       .attributes = op,
       .inputs = std::move(operands),
       .outputs = {out.operand()},
       .flops = flops});
  return out;
}

Tensor Calls::call(const Attributes& op, Inputs in, const TensorSpec& result) const {
  Tensor out = make(result);
  run(make_program(op, {in.begin(), in.end()}, {out.operand()}));
  return out;
}

std::vector<Tensor> Calls::call_all(const Attributes& op, Inputs in) const {
  std::vector<Operand> operands(in.begin(), in.end());
  std::vector<Tensor> outputs;
  for (const TensorSpec& spec : results_of(op, specs_of(operands))) outputs.push_back(make(spec));
  run(make_program(op, std::move(operands), ops::operands_of(outputs)));
  return outputs;
}

std::vector<Tensor> Calls::call(const ops::OpCall& op, std::span<const Tensor> inputs) const {
  std::vector<Tensor> outputs;
  for (const TensorSpec& spec : op.results(specs_of(ops::operands_of(inputs)))) {
    outputs.push_back(make(spec));
  }
  run(op.program(ops::operands_of(inputs), ops::operands_of(outputs)));
  return outputs;
}

Tensor Calls::matmul(const Tensor& a, const Tensor& b, Transposed transposed) const {
  MatmulAttributes attributes = options_.products;
  attributes.transpose_a = transposed == Transposed::a;
  attributes.transpose_b = transposed == Transposed::b;
  return call(attributes, {a, b});
}

Tensor Calls::as_shape(const Tensor& a, const Shape& shape) const {
  const Shape& own = a.spec().shape;
  if (own == shape) return a;
  const bool in_place = own.columns() == shape.columns() &&
                        (own.rows() == shape.rows() ||
                         (own.rows() % kTileSide == 0 && shape.rows() % kTileSide == 0));
  return in_place || a.spec().layout == Layout::row_major ? a.view(shape) : reshape(a, shape);
}

Tensor Calls::rows_joined(const Tensor& a) const {
  const Shape& shape = a.spec().shape;
  return as_shape(a, {shape.batch() * shape.rows(), shape.columns()});
}

}  // namespace howard::autograd
