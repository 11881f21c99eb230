// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/functions/matmul/linear.h"

#include "engines/autograd/functions/elementwise/arithmetic.h"

namespace howard::autograd {
namespace {

using ops::Tensor;
using Transposed = Calls::Transposed;

/// Returns x as the products need it: as one matrix if the weights' gradient is one, otherwise as a
/// batch.
Tensor factor(Tape& tape, const Tensor& x, WeightGradient gradient) {
  return gradient == WeightGradient::rows ? tape.calls().rows_joined(x) : x;
}

Tensor forward(Tape& tape, Value x, const LinearValues& layer, WeightGradient gradient) {
  const Calls& calls = tape.calls();
  const Shape& shape = tape.spec(x).shape;
  const Tensor product = calls.matmul(factor(tape, tape.tensor(x), gradient),
                                      tape.tensor(layer.weight), Transposed::b);
  const Tensor sum = calls.add(product, tape.tensor(layer.bias));
  return calls.as_shape(sum, shape.with_columns(sum.spec().shape.columns()));
}

/// Accumulates dW and db, and returns dx, or nothing if x needs no gradient.
std::optional<Tensor> backward(Tape& tape, Value x, const LinearValues& layer,
                               const Tensor& gradient, WeightGradient kind) {
  const Calls& calls = tape.calls();
  const Tensor dy = factor(tape, gradient, kind);
  tape.accumulate(layer.weight,
                  calls.matmul(dy, factor(tape, tape.tensor(x), kind), Transposed::a));
  const Dimension summed = kind == WeightGradient::rows ? Dimension::rows : Dimension::batch;
  tape.accumulate(layer.bias, calls.reduce(Reduction::sum, summed, dy));
  if (!tape.needs_gradient(x)) return std::nullopt;
  return calls.as_shape(calls.matmul(dy, tape.tensor(layer.weight)), tape.spec(x).shape);
}

struct Linear {
  Value x;
  LinearValues layer;
  WeightGradient gradient;

  void backward(Tape& tape, Value output) const {
    auto dx = autograd::backward(tape, x, layer, tape.gradient(output), gradient);
    if (dx) tape.accumulate(x, *dx);
  }
};

struct ThreeLinears {
  Value x;
  std::array<LinearValues, 3> layers;
  WeightGradient gradient;

  void backward(Tape& tape, Value output) const {
    std::array<std::optional<Tensor>, 3> dx;
    for (std::uint32_t i = 0; i < 3; ++i) {
      dx[i] = autograd::backward(tape, x, layers[i], tape.gradient(output.next(i)), gradient);
    }
    if (!dx[0]) return;
    tape.accumulate(x, tape.calls().add(tape.calls().add(*dx[0], *dx[1]), *dx[2]));
  }
};

/// Computes dW and dx of a product of x's rows.
void product_backward(Tape& tape, Value x, Value weight, const Tensor& dy) {
  const Calls& calls = tape.calls();
  if (tape.needs_gradient(weight)) {
    tape.accumulate(weight, calls.matmul(dy, calls.rows_joined(tape.tensor(x)), Transposed::a));
  }
  if (!tape.needs_gradient(x)) return;
  tape.accumulate(x, calls.as_shape(calls.matmul(dy, tape.tensor(weight)), tape.spec(x).shape));
}

struct FusedLinear {
  Value x;
  LinearValues layer;

  void backward(Tape& tape, Value output) const {
    const Tensor dy = tape.calls().rows_joined(tape.gradient(output));
    product_backward(tape, x, layer.weight, dy);
    tape.accumulate(layer.bias, tape.calls().reduce(Reduction::sum, Dimension::rows, dy, true));
  }
};

Tensor multiplied(const Tape& tape, const Tensor& a, const Tensor& b, bool transpose_a,
                  bool transpose_b) {
  MatmulAttributes op = tape.options().calls.products;
  op.transpose_a = transpose_a;
  op.transpose_b = transpose_b;
  return tape.calls().call(op, {a, b});
}

struct Product {
  Value a, b;
  bool transpose_a, transpose_b;

  void backward(Tape& tape, Value output) const {
    const Tensor dy = tape.gradient(output);
    const Tensor& left = tape.tensor(a);
    const Tensor& right = tape.tensor(b);
    if (tape.needs_gradient(a)) {
      const Tensor da = transpose_a ? multiplied(tape, right, dy, transpose_b, true)
                                    : multiplied(tape, dy, right, false, !transpose_b);
      tape.accumulate(a, summed_to(tape.calls(), da, tape.spec(a).shape));
    }
    if (!tape.needs_gradient(b)) return;
    const Tensor db = transpose_b ? multiplied(tape, dy, left, true, transpose_a)
                                  : multiplied(tape, left, dy, !transpose_a, false);
    tape.accumulate(b, summed_to(tape.calls(), db, tape.spec(b).shape));
  }
};

struct Project {
  Value x, weight;

  void backward(Tape& tape, Value output) const {
    product_backward(tape, x, weight, tape.calls().rows_joined(tape.gradient(output)));
  }
};

}  // namespace

Value linear(Tape& tape, Value x, const LinearValues& layer, WeightGradient gradient) {
  return tape.record(forward(tape, x, layer, gradient), {x, layer.weight, layer.bias},
                     Linear{x, layer, gradient});
}

Value composed_linear(Tape& tape, Value x, const LinearValues& layer) {
  return add(tape, matmul(tape, x, transpose(tape, layer.weight)), layer.bias);
}

Value fused_linear(Tape& tape, Value x, const LinearValues& layer) {
  const Calls& calls = tape.calls();
  MatmulAttributes product = tape.options().calls.products;
  product.transpose_b = true;
  const Tensor rows =
      calls.call(product, {tape.tensor(x), tape.tensor(layer.weight), tape.tensor(layer.bias)});
  const Shape shape = tape.spec(x).shape.with_columns(rows.spec().shape.columns());
  return tape.record(calls.as_shape(rows, shape), {x, layer.weight, layer.bias},
                     FusedLinear{x, layer});
}

Value product(Tape& tape, Value a, Value b, bool transpose_a, bool transpose_b) {
  return tape.record(multiplied(tape, tape.tensor(a), tape.tensor(b), transpose_a, transpose_b),
                     {a, b}, Product{a, b, transpose_a, transpose_b});
}

Value project(Tape& tape, Value x, Value weight) {
  const Calls& calls = tape.calls();
  const Tensor rows = calls.matmul(tape.tensor(x), tape.tensor(weight), Transposed::b);
  const Shape shape = tape.spec(x).shape.with_columns(rows.spec().shape.columns());
  return tape.record(calls.as_shape(rows, shape), {x, weight}, Project{x, weight});
}

Value three_linears(Tape& tape, Value x, const std::array<LinearValues, 3>& layers,
                    WeightGradient gradient) {
  const auto output = [&](const LinearValues& layer) { return forward(tape, x, layer, gradient); };
  const std::array outputs{output(layers[0]), output(layers[1]), output(layers[2])};
  return tape.record(outputs,
                     {x, layers[0].weight, layers[0].bias, layers[1].weight, layers[1].bias,
                      layers[2].weight, layers[2].bias},
                     ThreeLinears{x, layers, gradient});
}

}  // namespace howard::autograd
