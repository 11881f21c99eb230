// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/calls.h"

#include "base/check.h"
#include "engines/ops/attention/rotary.h"
#include "engines/ops/catalogue.h"
#include "engines/ops/data_movement/embedding.h"
#include "engines/ops/data_movement/heads.h"
#include "engines/ops/data_movement/reshape.h"
#include "engines/ops/data_movement/transpose.h"
#include "engines/ops/elementwise/eltwise.h"
#include "engines/ops/matmul/matmul.h"
#include "engines/ops/rows/cross_entropy.h"
#include "engines/ops/rows/reduce.h"
#include "engines/ops/rows/rms_norm.h"
#include "engines/ops/rows/softmax.h"
#include "engines/ops/training/dropout.h"

namespace howard::autograd {

using ops::Tensor;

Tensor Calls::matmul(const Tensor& a, const Tensor& b, Transposed transposed) const {
  MatmulAttributes attributes = options_.products;
  attributes.transpose_a = transposed == Transposed::a;
  attributes.transpose_b = transposed == Transposed::b;
  Tensor out = make(ops::matmul_output(a.spec(), b.spec(), attributes));
  run(ops::matmul(a, b, out, attributes));
  return out;
}

Tensor Calls::linear(const Tensor& a, const Tensor& b, const Tensor& bias) const {
  MatmulAttributes attributes = options_.products;
  attributes.transpose_b = true;
  Tensor out = make(ops::matmul_output(a.spec(), b.spec(), attributes));
  run(ops::linear(a, b, bias, out, attributes));
  return out;
}

Tensor Calls::eltwise(Eltwise function, const Tensor& a, const Tensor& b) const {
  Tensor out = make(ops::eltwise_output(function, a.spec(), b.spec()));
  run(ops::eltwise(function, a, b, out));
  return out;
}

Tensor Calls::eltwise(Eltwise function, const Tensor& a, float scalar) const {
  Tensor out = make(a.spec());
  run(ops::eltwise(function, a, scalar, out));
  return out;
}

Tensor Calls::eltwise(Eltwise function, const Tensor& a) const {
  Tensor out = make(a.spec());
  run(ops::eltwise(function, a, out));
  return out;
}

Tensor Calls::eltwise(const EltwiseAttributes& attributes, std::span<const Tensor> values) const {
  std::vector<TensorSpec> specs;
  for (const Tensor& value : values) specs.push_back(value.spec());
  Tensor out = make(ops::eltwise_output(attributes, specs));
  run(ops::eltwise(attributes, values, out));
  return out;
}

std::vector<Tensor> Calls::call(const ops::OpCall& op, std::span<const Tensor> inputs) const {
  std::vector<TensorSpec> specs;
  for (const Tensor& input : inputs) specs.push_back(input.spec());
  std::vector<Tensor> outputs;
  for (const TensorSpec& spec : op.results(specs)) outputs.push_back(make(spec));
  run(op.program(inputs, outputs));
  return outputs;
}

Tensor Calls::add(const Tensor& a, const Tensor& b) const { return eltwise(Eltwise::add, a, b); }

Tensor Calls::subtract(const Tensor& a, const Tensor& b) const {
  return eltwise(Eltwise::subtract, a, b);
}

Tensor Calls::multiply(const Tensor& a, const Tensor& b) const {
  return eltwise(Eltwise::multiply, a, b);
}

Tensor Calls::multiply(const Tensor& a, float scalar) const {
  return eltwise(Eltwise::multiply, a, scalar);
}

Tensor Calls::fill(float value, const TensorSpec& spec) const {
  Tensor out = make(spec);
  run(ops::fill(value, out));
  return out;
}

Tensor Calls::cast(const Tensor& a, DataType dtype) const {
  Tensor out = make({a.spec().shape, dtype, a.spec().layout});
  run(ops::cast(a, out));
  return out;
}

Tensor Calls::gelu_backward(const Tensor& x, const Tensor& dy, bool fused) const {
  Tensor dx = make(x.spec());
  run(ops::gelu_backward(x, dy, fused, dx));
  return dx;
}

Tensor Calls::reduce(Reduction reduction, Dimension dimension, const Tensor& a, bool moreh) const {
  Tensor out = make(ops::reduce_output(dimension, a.spec()));
  run(ops::reduce(reduction, dimension, a, out, moreh));
  return out;
}

Tensor Calls::transpose(const Tensor& a, Swap swap) const {
  Tensor out = make(ops::transpose_output(a.spec(), swap));
  run(ops::transpose(a, out, swap));
  return out;
}

Tensor Calls::reshape(const Tensor& a, const Shape& shape) const {
  Tensor out = make({shape, a.spec().dtype});
  run(ops::reshape(a, out));
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

Tensor Calls::to_layout(const Tensor& a, Layout layout) const {
  Tensor out = make({a.spec().shape, a.spec().dtype, layout});
  run(ops::to_layout(a, out));
  return out;
}

Tensor Calls::concat(std::span<const Tensor> parts) const {
  HOWARD_CHECK(!parts.empty(), "something to put side by side");
  std::int64_t columns = 0;
  for (const Tensor& part : parts) columns += part.spec().shape.columns();
  const TensorSpec& first = parts[0].spec();
  Tensor out = make({first.shape.with_columns(columns), first.dtype});
  run(ops::concat(parts, out));
  return out;
}

Tensor Calls::concat_heads(const Tensor& a) const {
  Tensor out = make(ops::concat_heads_output(a.spec()));
  run(ops::concat_heads(a, out));
  return out;
}

Tensor Calls::repeat_heads(const Tensor& a, int count) const {
  if (count == 1) return a;
  Tensor out = make(ops::repeat_heads_output(a.spec(), count));
  run(ops::repeat_heads(a, count, out));
  return out;
}

Tensor Calls::softmax(const Tensor& a) const {
  Tensor out = make(a.spec());
  run(ops::softmax(a, out));
  return out;
}

Tensor Calls::softmax_backward(const Tensor& y, const Tensor& dy) const {
  Tensor dx = make(y.spec());
  run(ops::softmax_backward(y, dy, dx));
  return dx;
}

Tensor Calls::rotary_embedding(const Tensor& x, const Tensor& cosines, const Tensor& sines,
                               RotaryStyle style) const {
  Tensor out = make(x.spec());
  run(ops::rotary_embedding(x, cosines, sines, style, out));
  return out;
}

Tensor Calls::dropout(const Tensor& a, float probability, std::uint32_t seed,
                      const Tensor* offset) const {
  Tensor out = make(a.spec());
  run(ops::dropout(a, probability, seed, out, offset));
  return out;
}

Tensor Calls::embedding(const Tensor& indices, const Tensor& table) const {
  Tensor out = make(ops::embedding_output(indices.spec(), table.spec()));
  run(ops::embedding(indices, table, out));
  return out;
}

Tensor Calls::embedding_backward(const Tensor& indices, const Tensor& dy,
                                 std::int64_t vocabulary) const {
  Tensor dtable = make({{vocabulary, dy.spec().shape.columns()}, dy.spec().dtype});
  run(ops::embedding_backward(indices, dy, dtable));
  return dtable;
}

Tensor Calls::cross_entropy(const Tensor& logits, const Tensor& targets) const {
  Tensor losses = make(ops::cross_entropy_output(logits.spec(), targets.spec()));
  run(ops::cross_entropy(logits, targets, losses));
  return losses;
}

Tensor Calls::cross_entropy_backward(const Tensor& logits, const Tensor& targets,
                                     float scale) const {
  Tensor dlogits = make(logits.spec());
  run(ops::cross_entropy_backward(logits, targets, scale, dlogits));
  return dlogits;
}

}  // namespace howard::autograd
