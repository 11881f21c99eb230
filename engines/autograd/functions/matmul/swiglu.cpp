// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/functions/matmul/swiglu.h"

#include "engines/ops/tensor.h"

namespace howard::autograd {
namespace {

using ops::Tensor;
using Transposed = Calls::Transposed;

struct FusedSwiglu {
  Value x;
  SwigluValues weights;

  void backward(Tape& tape, Value output) const {
    const Calls& calls = tape.calls();
    const Tensor dy = calls.rows_joined(tape.gradient(output));
    const Tensor rows = calls.rows_joined(tape.tensor(x));
    const Tensor gate = calls.matmul(rows, tape.tensor(weights.gate), Transposed::b);
    const Tensor up = calls.matmul(rows, tape.tensor(weights.up), Transposed::b);
    const Tensor open = calls.eltwise(Eltwise::silu, gate);
    tape.accumulate(weights.down, calls.matmul(dy, calls.multiply(open, up), Transposed::a));
    const Tensor dhidden = calls.matmul(dy, tape.tensor(weights.down));
    const Tensor dopen = calls.multiply(dhidden, up);
    const Tensor dup = calls.multiply(dhidden, open);
    tape.accumulate(weights.up, calls.matmul(dup, rows, Transposed::a));
    const Tensor dgate = calls.eltwise(Eltwise::silu_backward, gate, dopen);
    tape.accumulate(weights.gate, calls.matmul(dgate, rows, Transposed::a));
    if (!tape.needs_gradient(x)) return;
    const Tensor from_up = calls.matmul(dup, tape.tensor(weights.up));
    const Tensor from_gate = calls.matmul(dgate, tape.tensor(weights.gate));
    tape.accumulate(x, calls.as_shape(calls.add(from_up, from_gate), tape.spec(x).shape));
  }
};

}  // namespace

Value fused_swiglu(Tape& tape, Value x, const SwigluValues& weights) {
  const Tensor output =
      tape.calls().call(SwigluAttributes{}, {tape.tensor(x), tape.tensor(weights.gate),
                                             tape.tensor(weights.down), tape.tensor(weights.up)});
  return tape.record(output, {x, weights.gate, weights.down, weights.up}, FusedSwiglu{x, weights});
}

}  // namespace howard::autograd
