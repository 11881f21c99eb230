// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/functions/elementwise/activation.h"

namespace howard::autograd {
namespace {

struct MaskedRelu {
  Value x, mask;

  void backward(Tape& tape, Value output) const {
    tape.accumulate(x, tape.calls().multiply(tape.gradient(output), tape.tensor(mask)));
  }
};

struct Gelu {
  Value x;
  bool fused;

  void backward(Tape& tape, Value output) const {
    tape.accumulate(x, tape.calls().gelu_backward(tape.tensor(x), tape.gradient(output), fused));
  }
};

struct Silu {
  Value x;

  void backward(Tape& tape, Value output) const {
    tape.accumulate(
        x, tape.calls().eltwise(Eltwise::silu_backward, tape.tensor(x), tape.gradient(output)));
  }
};

/// The gradient is dy y (1 - y).
struct Sigmoid {
  Value x;

  void backward(Tape& tape, Value output) const {
    const Calls& calls = tape.calls();
    const ops::Tensor y = tape.tensor(output);
    const ops::Tensor slope = calls.multiply(y, calls.eltwise(Eltwise::rsub, y, 1.0F));
    tape.accumulate(x, calls.multiply(tape.gradient(output), slope));
  }
};

struct Gated {
  Value gate, up;

  void backward(Tape& tape, Value output) const {
    const Calls& calls = tape.calls();
    const ops::Tensor dgate = calls.make(tape.spec(gate));
    const ops::Tensor dup = calls.make(tape.spec(up));
    calls.run(make_program(SwigluBackwardAttributes{},
                           {tape.tensor(gate), tape.tensor(up), tape.gradient(output)},
                           {dgate, dup}));
    tape.accumulate(up, dup);
    tape.accumulate(gate, dgate);
  }
};

const ops::Tensor* seed_offset(const Tape& tape) {
  return tape.options().seed_offset ? &*tape.options().seed_offset : nullptr;
}

struct Dropout {
  Value x;
  float probability;
  std::uint32_t seed;

  void backward(Tape& tape, Value output) const {
    tape.accumulate(
        x, tape.calls().dropout(tape.gradient(output), probability, seed, seed_offset(tape)));
  }
};

}  // namespace

Value masked_relu(Tape& tape, Value x) {
  const Value mask = tape.constant(tape.calls().eltwise(Eltwise::gtz, tape.tensor(x)));
  return tape.record(tape.calls().eltwise(Eltwise::relu, tape.tensor(x)), {x}, MaskedRelu{x, mask});
}

Value gelu(Tape& tape, Value x, bool fused) {
  return tape.record(tape.calls().eltwise(Eltwise::gelu, tape.tensor(x)), {x}, Gelu{x, fused});
}

Value silu(Tape& tape, Value x) {
  return tape.record(tape.calls().eltwise(Eltwise::silu, tape.tensor(x)), {x}, Silu{x});
}

Value sigmoid(Tape& tape, Value x) {
  return tape.record(tape.calls().eltwise(Eltwise::sigmoid, tape.tensor(x)), {x}, Sigmoid{x});
}

Value gated(Tape& tape, Value gate, Value up) {
  const EltwiseAttributes product{
      .function = Eltwise::multiply, .scalar = {}, .on_a = {step_of(Eltwise::silu)}};
  const ops::Tensor factors[] = {tape.tensor(gate), tape.tensor(up)};
  return tape.record(tape.calls().eltwise(product, factors), {gate, up}, Gated{gate, up});
}

Value dropout(Tape& tape, Value x, float probability) {
  if (probability == 0) return x;
  const std::uint32_t seed = tape.next_seed();
  return tape.record(tape.calls().dropout(tape.tensor(x), probability, seed, seed_offset(tape)),
                     {x}, Dropout{x, probability, seed});
}

}  // namespace howard::autograd
