// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/optimizers/muon.h"

#include <utility>

#include "engines/ops/tensor.h"

namespace howard::autograd {
namespace {

using ops::Tensor;
using Transposed = Calls::Transposed;

/// Computes a + factor b: ttnn's addalpha, which is two programs.
Tensor add_scaled(const Calls& calls, const Tensor& a, const Tensor& b, float factor) {
  return calls.add(a, calls.multiply(b, factor));
}

}  // namespace

Muon::Muon(const Calls& calls, std::vector<Parameter*> parameters, float rate,
           const MuonNumbers& numbers)
    : parameters_(std::move(parameters)), numbers_(numbers) {
  learning_rate = rate;
  for (const Parameter* parameter : parameters_) {
    buffers_.push_back(calls.fill(0, parameter->value.spec()));
  }
}

Tensor Muon::orthogonal(const Calls& calls, const Tensor& b) const {
  const Tensor norm = calls.eltwise(Eltwise::sqrt, calls.reduce(Reduction::sum, Dimension::all,
                                                                calls.eltwise(Eltwise::square, b)));
  Tensor x = calls.eltwise(Eltwise::divide, b, calls.eltwise(Eltwise::add, norm, 1e-7F));
  const bool tall = x.spec().shape.rows() > x.spec().shape.columns();
  if (tall) x = calls.transpose(x);
  for (int i = 0; i < numbers_.iterations; ++i) {
    const Tensor a = calls.matmul(x, x, Transposed::b);
    const Tensor factor =
        add_scaled(calls, calls.multiply(a, -4.775F), calls.matmul(a, a), 2.0315F);
    x = add_scaled(calls, calls.matmul(factor, x), x, 3.4445F);
  }
  return tall ? calls.transpose(x) : x;
}

void Muon::step(const Calls& calls) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    Parameter& parameter = *parameters_[i];
    if (!parameter.gradient) continue;
    const Tensor kept = calls.multiply(buffers_[i], numbers_.momentum);
    calls.run(make_program(eltwise_of(Eltwise::add), {kept, *parameter.gradient}, {buffers_[i]}));
    parameter.gradient.reset();
    const Tensor change = calls.multiply(orthogonal(calls, buffers_[i]), learning_rate);
    calls.run(
        make_program(eltwise_of(Eltwise::subtract), {parameter.value, change}, {parameter.value}));
  }
}

std::vector<KeptTensor> Muon::kept(std::size_t parameter) const {
  return {{"momentum", buffers_[parameter]}};
}

}  // namespace howard::autograd
