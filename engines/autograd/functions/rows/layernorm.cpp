// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/functions/rows/layernorm.h"

namespace howard::autograd {
namespace {

using ops::Tensor;

Tensor mean_of_columns(const Calls& calls, const Tensor& a) {
  return calls.reduce(Reduction::mean, Dimension::columns, a);
}

/// Reduces [n, s, d] to [1, d], first over n.
Tensor sum_of_rows(const Calls& calls, const Tensor& a) {
  return calls.reduce(Reduction::sum, Dimension::rows,
                      calls.reduce(Reduction::sum, Dimension::batch, a));
}

/// With xn = (x - mean) rstd and dxn = dy gamma, dx is (dxn - mean(dxn) - xn mean(dxn xn)) rstd.
struct ComposedLayernorm {
  Value x;
  LayernormValues scale;
  Value normalized, rstd;

  void backward(Tape& tape, Value output) const {
    const Calls& calls = tape.calls();
    const Tensor dy = tape.gradient(output);
    const Tensor xn = tape.tensor(normalized);
    tape.accumulate(scale.beta, sum_of_rows(calls, dy));
    tape.accumulate(scale.gamma, sum_of_rows(calls, calls.multiply(dy, xn)));
    const Tensor dxn = calls.multiply(dy, tape.tensor(scale.gamma));
    const Tensor mean = mean_of_columns(calls, dxn);
    const Tensor slope = mean_of_columns(calls, calls.multiply(dxn, xn));
    const Tensor centered = calls.subtract(dxn, mean);
    const Tensor rest = calls.subtract(centered, calls.multiply(xn, slope));
    tape.accumulate(x, calls.multiply(tape.tensor(rstd), rest));
  }
};

struct FusedLayernorm {
  Value x;
  LayernormValues scale;
  Value mean, rstd;

  void backward(Tape& tape, Value output) const {
    const Calls& calls = tape.calls();
    const TensorSpec& spec = tape.spec(x);
    const Tensor dx = calls.make(spec);
    const Tensor of_gamma = calls.make(spec), of_beta = calls.make(spec);
    calls.run(make_program(LayernormBackwardAttributes{},
                           {tape.tensor(x), tape.tensor(scale.gamma), tape.tensor(mean),
                            tape.tensor(rstd), tape.gradient(output)},
                           {dx, of_gamma, of_beta}));
    const auto sum = [&](const Tensor& part) {
      return calls.reduce(Reduction::sum, Dimension::rows, calls.rows_joined(part));
    };
    tape.accumulate(scale.gamma, sum(of_gamma));
    tape.accumulate(scale.beta, sum(of_beta));
    tape.accumulate(x, dx);
  }
};

}  // namespace

Value composed_layernorm(Tape& tape, Value x, const LayernormValues& scale, float epsilon) {
  const Calls& calls = tape.calls();
  const Tensor input = tape.tensor(x);
  const Tensor centered = calls.subtract(input, mean_of_columns(calls, input));
  const Tensor variance = mean_of_columns(calls, calls.multiply(centered, centered));
  const Tensor shifted = calls.eltwise(Eltwise::add, variance, epsilon);
  const Value rstd = tape.constant(calls.eltwise(Eltwise::rsqrt, shifted));
  const Value normalized = tape.constant(calls.multiply(centered, tape.tensor(rstd)));
  const Tensor scaled = calls.multiply(tape.tensor(scale.gamma), tape.tensor(normalized));
  return tape.record(calls.add(scaled, tape.tensor(scale.beta)), {x, scale.gamma, scale.beta},
                     ComposedLayernorm{x, scale, normalized, rstd});
}

Value fused_layernorm(Tape& tape, Value x, const LayernormValues& scale, float epsilon) {
  const Calls& calls = tape.calls();
  const Tensor input = tape.tensor(x);
  const Tensor output = calls.make(input.spec());
  const TensorSpec statistic{.shape = input.spec().shape.with_columns(1),
                             .dtype = input.spec().dtype};
  const Value mean = tape.constant(calls.make(statistic));
  const Value rstd = tape.constant(calls.make(statistic));
  calls.run(make_program(TtmlLayernormAttributes{.epsilon = epsilon},
                         {input, tape.tensor(scale.gamma), tape.tensor(scale.beta)},
                         {output, tape.tensor(mean), tape.tensor(rstd)}));
  return tape.record(output, {x, scale.gamma, scale.beta}, FusedLayernorm{x, scale, mean, rstd});
}

}  // namespace howard::autograd
