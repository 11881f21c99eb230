// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/functions/rows/rms_norm.h"

#include <optional>
#include <vector>

#include "engines/autograd/functions/elementwise/arithmetic.h"
#include "engines/ops/tensor.h"

namespace howard::autograd {
namespace {

using ops::Tensor;

struct RmsNorm {
  Value x, gamma, rms;

  void backward(Tape& tape, Value output) const {
    const Calls& calls = tape.calls();
    const std::vector<Tensor> slopes = calls.call_all(
        RmsNormBackwardAttributes{},
        {tape.tensor(x), tape.tensor(gamma), tape.tensor(rms), tape.gradient(output)});
    if (tape.needs_gradient(gamma)) {
      tape.accumulate(gamma,
                      calls.reduce(Reduction::sum, Dimension::rows, calls.rows_joined(slopes[1])));
    }
    tape.accumulate(x, slopes[0]);
  }
};

/// With g = gamma / rms dy, dx is g - x sum(x g) / (columns rms^2), and dgamma is the sum over the
/// rows of dy x / rms. These are TTML's calls, in its order.
struct ComposedRmsNorm {
  Value x, gamma, rms;

  void backward(Tape& tape, Value output) const {
    const Calls& calls = tape.calls();
    const Tensor input = tape.tensor(x);
    const Tensor root = tape.tensor(rms);
    const Tensor dy = tape.gradient(output);
    const Tensor scale = calls.eltwise(Eltwise::divide, tape.tensor(gamma), root);
    const Tensor scaled = calls.multiply(scale, dy);
    const Tensor sum =
        calls.reduce(Reduction::sum, Dimension::columns, calls.multiply(input, scaled));
    const Tensor shared = calls.multiply(input, sum);
    const auto columns = static_cast<float>(input.spec().shape.columns());
    const Tensor squares = calls.multiply(calls.eltwise(Eltwise::square, root), columns);
    const Tensor share = calls.eltwise(Eltwise::divide, shared, squares);
    const Tensor dx = calls.subtract(scaled, share);
    if (tape.needs_gradient(gamma)) {
      const Tensor component = calls.multiply(dy, calls.eltwise(Eltwise::divide, input, root));
      tape.accumulate(gamma,
                      calls.reduce(Reduction::sum, Dimension::rows,
                                   calls.reduce(Reduction::sum, Dimension::batch, component)));
    }
    tape.accumulate(x, dx);
  }
};

/// With n = x / rms and g = gamma dy, dx is (g - n mean(n g)) / rms, and dgamma is the sum over the
/// rows of n dy.
struct ScaledRmsNorm {
  Value x, gamma, inverse;

  void backward(Tape& tape, Value output) const {
    const Calls& calls = tape.calls();
    const Tensor root = tape.tensor(inverse);
    const Tensor dy = tape.gradient(output);
    const Tensor normalized = calls.multiply(tape.tensor(x), root);
    if (tape.needs_gradient(gamma)) {
      const Tensor component = calls.multiply(dy, normalized);
      tape.accumulate(gamma,
                      calls.reduce(Reduction::sum, Dimension::rows,
                                   calls.reduce(Reduction::sum, Dimension::batch, component)));
    }
    const Tensor scaled = calls.multiply(dy, tape.tensor(gamma));
    const Tensor share =
        calls.reduce(Reduction::mean, Dimension::columns, calls.multiply(scaled, normalized));
    const Tensor rest = calls.subtract(scaled, calls.multiply(normalized, share));
    tape.accumulate(x, calls.multiply(rest, root));
  }
};

struct Raise {
  Value x;

  void backward(Tape& tape, Value output) const { tape.accumulate(x, tape.gradient(output)); }
};

struct Rotary {
  Value x;
  RotaryTables tables;
  RotaryStyle style;

  void backward(Tape& tape, Value output) const {
    tape.accumulate(x, tape.calls().call(RotaryEmbeddingAttributes{.style = style},
                                         {tape.gradient(output), tape.tensor(tables.cosines),
                                          tape.tensor(tables.negative_sines)}));
  }
};

}  // namespace

Value rms_norm(Tape& tape, Value x, Value gamma, float epsilon) {
  const std::vector<Tensor> made = tape.calls().call_all(TtmlRmsNormAttributes{.epsilon = epsilon},
                                                         {tape.tensor(x), tape.tensor(gamma)});
  return tape.record(made[0], {x, gamma}, RmsNorm{x, gamma, tape.constant(made[1])});
}

Value composed_rms_norm(Tape& tape, Value x, Value gamma, float epsilon) {
  const Calls& calls = tape.calls();
  const Tensor input = tape.tensor(x);
  const Tensor mean =
      calls.reduce(Reduction::mean, Dimension::columns, calls.eltwise(Eltwise::square, input));
  const Tensor shifted = calls.eltwise(Eltwise::add, mean, epsilon);
  const Value rms = tape.constant(calls.eltwise(Eltwise::sqrt, shifted));
  const Tensor scaled = calls.multiply(tape.tensor(gamma), input);
  return tape.record(calls.eltwise(Eltwise::divide, scaled, tape.tensor(rms)), {x, gamma},
                     ComposedRmsNorm{x, gamma, rms});
}

Value scaled_rms_norm(Tape& tape, Value x, Value gamma, float epsilon) {
  const Calls& calls = tape.calls();
  const Tensor input = tape.tensor(x);
  const Tensor mean =
      calls.reduce(Reduction::mean, Dimension::columns, calls.eltwise(Eltwise::square, input));
  const Value inverse =
      tape.constant(calls.eltwise(Eltwise::rsqrt, calls.eltwise(Eltwise::add, mean, epsilon)));
  const Tensor normalized = calls.multiply(input, tape.tensor(inverse));
  return tape.record(calls.multiply(normalized, tape.tensor(gamma)), {x, gamma},
                     ScaledRmsNorm{x, gamma, inverse});
}

Value polynomial_norm(Tape& tape, Value x, const std::array<float, 3>& weights, float bias,
                      float epsilon) {
  const TensorSpec row{{1, tape.spec(x).shape.columns()}, tape.spec(x).dtype};
  const Value square = multiply(tape, x, x);
  const std::array powers{multiply(tape, square, x), square, x};
  std::optional<Value> total;
  for (std::size_t i = 0; i < powers.size(); ++i) {
    const Value ones = tape.constant(tape.calls().fill(1, row));
    const Value part = scale(tape, rms_norm(tape, powers.at(i), ones, epsilon), weights.at(i));
    total = total ? add(tape, *total, part) : part;
  }
  if (bias == 0) return *total;
  return tape.record(tape.calls().eltwise(Eltwise::add, tape.tensor(*total), bias), {*total},
                     Raise{*total});
}

Value rotary_embedding(Tape& tape, Value x, const RotaryTables& tables, RotaryStyle style) {
  return tape.record(
      tape.calls().call(RotaryEmbeddingAttributes{.style = style},
                        {tape.tensor(x), tape.tensor(tables.cosines), tape.tensor(tables.sines)}),
      {x}, Rotary{x, tables, style});
}

}  // namespace howard::autograd
