// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "engines/ops/tensor.h"

namespace howard::chip {

/// Makes the calls of a training step of the report's network: two linear layers with a relu
/// between them, a mean square error and plain gradient descent, with batch b, width d and weights
/// [out, in].
class MlpCalls {
 public:
  MlpCalls(Device& device, std::int64_t b, std::int64_t d)
      : device_(device), batch_({b, d}), square_({d, d}), row_({1, d}) {}

  /// Returns the 24 calls of the report's static engine.
  std::vector<Program> static_step() {
    const ops::Tensor x = tensor(batch_);
    const ops::Tensor hidden = linear(x);
    eltwise(Eltwise::gtz, {hidden});
    eltwise(Eltwise::relu, {hidden});
    const ops::Tensor difference = loss(linear(hidden));
    const ops::Tensor dp = scale(difference);
    sum_rows(dp);
    const ops::Tensor dh = matmul(dp, tensor(square_), {}, batch_);
    matmul(dp, hidden, {.transpose_a = true}, square_);
    const ops::Tensor masked = eltwise(Eltwise::multiply, {dh, hidden});
    sum_rows(masked);
    matmul(masked, x, {.transpose_a = true}, square_);
    descend();
    return std::move(calls_);
  }

  /// Returns the 32 calls of the report's dynamic engine.
  std::vector<Program> dynamic_step() {
    const ops::Tensor x = tensor(batch_);
    const ops::Tensor hidden = eltwise(Eltwise::relu, {dynamic_linear(x)});
    const ops::Tensor difference = loss(dynamic_linear(hidden));
    calls_.push_back(make_program(eltwise_of(Eltwise::fill, 1.0F), {}, {tensor(batch_)}));
    const ops::Tensor one = tensor({1, 1});
    const ops::Tensor dp = eltwise(Eltwise::multiply, {difference, one});
    const ops::Tensor left = eltwise(Eltwise::multiply, {dp, difference});
    const ops::Tensor right = eltwise(Eltwise::multiply, {dp, difference});
    eltwise(Eltwise::add, {left, right});
    sum_rows(dp);
    matmul(dp, tensor(square_), {.transpose_b = true}, batch_);
    transpose(matmul(hidden, dp, {.transpose_a = true}, square_));
    eltwise(Eltwise::gtz, {hidden});
    const ops::Tensor masked = eltwise(Eltwise::multiply, {dp, hidden});
    sum_rows(masked);
    transpose(matmul(x, masked, {.transpose_a = true}, square_));
    descend();
    return std::move(calls_);
  }

 private:
  ops::Tensor tensor(const Shape& shape) { return {device_, {shape}}; }

  ops::Tensor matmul(const ops::Tensor& a, const ops::Tensor& b, const MatmulAttributes& attributes,
                     const Shape& to) {
    const ops::Tensor out = tensor(to);
    calls_.push_back(make_program(attributes, {a, b}, {out}));
    return out;
  }
  ops::Tensor eltwise(Eltwise function, const std::vector<ops::Tensor>& x) {
    const ops::Tensor out = tensor(x[0].spec().shape);
    calls_.push_back(x.size() == 1 ? make_program(eltwise_of(function), {x[0]}, {out})
                                   : make_program(eltwise_of(function), {x[0], x[1]}, {out}));
    return out;
  }
  ops::Tensor scale(const ops::Tensor& x) {
    const ops::Tensor out = tensor(x.spec().shape);
    calls_.push_back(make_program(eltwise_of(Eltwise::multiply, 0.01F), {x}, {out}));
    return out;
  }
  void sum_rows(const ops::Tensor& x) {
    calls_.push_back(
        make_program(ReduceAttributes{.reduction = Reduction::sum, .dimension = Dimension::rows},
                     {x}, {tensor(row_)}));
  }
  ops::Tensor transpose(const ops::Tensor& x) {
    const ops::Tensor out = tensor(x.spec().shape.transposed());
    calls_.push_back(make_program(TransposeAttributes{}, {x}, {out}));
    return out;
  }
  ops::Tensor linear(const ops::Tensor& x) {
    return eltwise(Eltwise::add,
                   {matmul(x, tensor(square_), {.transpose_b = true}, batch_), tensor(row_)});
  }
  ops::Tensor dynamic_linear(const ops::Tensor& x) {
    return eltwise(Eltwise::add, {matmul(x, transpose(tensor(square_)), {}, batch_), tensor(row_)});
  }
  /// Returns its difference to the target.
  ops::Tensor loss(const ops::Tensor& prediction) {
    const ops::Tensor difference = eltwise(Eltwise::subtract, {prediction, tensor(batch_)});
    const ops::Tensor square = eltwise(Eltwise::multiply, {difference, difference});
    calls_.push_back(
        make_program(ReduceAttributes{.reduction = Reduction::mean, .dimension = Dimension::all},
                     {square}, {tensor({1})}));
    return difference;
  }
  void descend() {
    for (const Shape& shape : {square_, row_, square_, row_}) {
      const ops::Tensor step = scale(tensor(shape));
      eltwise(Eltwise::subtract, {tensor(shape), step});
    }
  }

  Device& device_;
  Shape batch_, square_, row_;
  std::vector<Program> calls_;
};

}  // namespace howard::chip
