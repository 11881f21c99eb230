// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/functions/rows/layernorm.h"

#include <vector>

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
    const std::vector<Tensor> slopes = calls.call_all(
        LayernormBackwardAttributes{}, {tape.tensor(x), tape.tensor(scale.gamma), tape.tensor(mean),
                                        tape.tensor(rstd), tape.gradient(output)});
    const auto sum = [&](const Tensor& part) {
      return calls.reduce(Reduction::sum, Dimension::rows, calls.rows_joined(part));
    };
    tape.accumulate(scale.gamma, sum(slopes[1]));
    tape.accumulate(scale.beta, sum(slopes[2]));
    tape.accumulate(x, slopes[0]);
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
  const std::vector<Tensor> made =
      tape.calls().call_all(TtmlLayernormAttributes{.epsilon = epsilon},
                            {tape.tensor(x), tape.tensor(scale.gamma), tape.tensor(scale.beta)});
  const Value mean = tape.constant(made[1]);
  const Value rstd = tape.constant(made[2]);
  return tape.record(made[0], {x, scale.gamma, scale.beta}, FusedLayernorm{x, scale, mean, rstd});
}

}  // namespace howard::autograd
