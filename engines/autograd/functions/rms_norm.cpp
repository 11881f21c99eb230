// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/functions/rms_norm.h"

#include "engines/ops/normalization/rms_norm.h"

namespace howard::autograd {
namespace {

using ops::Tensor;

struct RmsNorm {
  Value x, gamma, rms;

  void backward(Tape& tape, Value output) const {
    const Calls& calls = tape.calls();
    const Tensor dx = calls.make(tape.spec(x));
    const Tensor component = calls.make(tape.spec(x));
    calls.run(ops::rms_norm_backward(tape.tensor(x), tape.tensor(gamma), tape.tensor(rms),
                                     tape.gradient(output), dx, component));
    tape.accumulate(gamma,
                    calls.reduce(Reduction::sum, Dimension::rows, calls.rows_joined(component)));
    tape.accumulate(x, dx);
  }
};

struct Rotary {
  Value x;
  RotaryTables tables;
  RotaryStyle style;

  void backward(Tape& tape, Value output) const {
    tape.accumulate(
        x, tape.calls().rotary_embedding(tape.gradient(output), tape.tensor(tables.cosines),
                                         tape.tensor(tables.negative_sines), style));
  }
};

}  // namespace

Value rms_norm(Tape& tape, Value x, Value gamma, float epsilon) {
  const Calls& calls = tape.calls();
  const Tensor input = tape.tensor(x);
  const Tensor output = calls.make(input.spec());
  const Value rms = tape.constant(calls.make(ops::rms_output(input.spec())));
  calls.run(ops::rms_norm(input, tape.tensor(gamma), epsilon, output, tape.tensor(rms)));
  return tape.record(output, {x, gamma}, RmsNorm{x, gamma, rms});
}

Value rotary_embedding(Tape& tape, Value x, const RotaryTables& tables, RotaryStyle style) {
  return tape.record(tape.calls().rotary_embedding(tape.tensor(x), tape.tensor(tables.cosines),
                                                   tape.tensor(tables.sines), style),
                     {x}, Rotary{x, tables, style});
}

}  // namespace howard::autograd
