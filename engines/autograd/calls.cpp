// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/calls.h"

#include <array>
#include <utility>

#include "base/check.h"
#include "engines/ops/catalogue.h"
#include "engines/ops/tensor.h"

namespace howard::autograd {
namespace {

std::vector<Operand> operands_of(Calls::Inputs in) { return {in.begin(), in.end()}; }

}  // namespace

using ops::Tensor;

Tensor Calls::call(const Attributes& op, Inputs in) const {
  // The result is what follows from the operands, so that the program needs no further check.
  std::vector<Operand> operands = operands_of(in);
  const SpecList specs = specs_of(operands);
  Tensor out = make(results_of(op, specs).at(0));
  const Flops flops = flops_of(op, specs, std::array{out.spec()});
  run({.name = name_of(op),
       .attributes = op,
       .inputs = std::move(operands),
       .outputs = {out.operand()},
       .flops = flops});
  return out;
}

Tensor Calls::call(const Attributes& op, Inputs in, const TensorSpec& result) const {
  Tensor out = make(result);
  run(make_program(op, operands_of(in), {out.operand()}));
  return out;
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

Tensor Calls::linear(const Tensor& a, const Tensor& b, const Tensor& bias) const {
  MatmulAttributes attributes = options_.products;
  attributes.transpose_b = true;
  Tensor out = make(results_of(attributes, std::array{a.spec(), b.spec()})[0]);
  run(make_program(attributes, {a, b, bias}, {out}));
  return out;
}

Tensor Calls::eltwise(const EltwiseAttributes& attributes, std::span<const Tensor> values) const {
  Tensor out = make(results_of(attributes, specs_of(ops::operands_of(values)))[0]);
  run(make_program(attributes, ops::operands_of(values), {out}));
  return out;
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

Tensor Calls::concat(std::span<const Tensor> parts) const {
  HOWARD_CHECK(!parts.empty(), "something to put side by side");
  Tensor out = make(results_of(ConcatAttributes{}, specs_of(ops::operands_of(parts)))[0]);
  run(make_program(ConcatAttributes{}, ops::operands_of(parts), {out}));
  return out;
}

Tensor Calls::repeat_heads(const Tensor& a, int count) const {
  if (count == 1) return a;
  const auto& [outer, heads, rows, columns] = a.spec().shape.dimensions();
  Tensor out = make({{outer, heads * count, rows, columns}, a.spec().dtype, a.spec().layout});
  run(make_program(RepeatAttributes{}, {a}, {out}));
  return out;
}

Tensor Calls::dropout(const Tensor& a, float probability, std::uint32_t seed,
                      const Tensor* offset) const {
  Tensor out = make(a.spec());
  std::vector<Operand> inputs{a};
  if (offset != nullptr) inputs.emplace_back(*offset);
  run(make_program(DropoutAttributes{.probability = probability, .seed = seed}, std::move(inputs),
                   {out}));
  return out;
}

}  // namespace howard::autograd
