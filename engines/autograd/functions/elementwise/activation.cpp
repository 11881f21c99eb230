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
    tape.accumulate(x, tape.calls().call(GeluBackwardAttributes{.fused = fused},
                                         {tape.tensor(x), tape.gradient(output)}));
  }
};

struct Silu {
  Value x;
  bool composed;

  void backward(Tape& tape, Value output) const {
    const Calls& calls = tape.calls();
    const ops::Tensor dy = tape.gradient(output);
    if (!composed) {
      tape.accumulate(x, calls.eltwise(Eltwise::silu_backward, tape.tensor(x), dy));
      return;
    }
    const ops::Tensor share = calls.eltwise(Eltwise::sigmoid, tape.tensor(x));
    const ops::Tensor rest = calls.eltwise(Eltwise::rsub, share, 1.0F);
    const ops::Tensor inner =
        calls.eltwise(Eltwise::add, calls.multiply(tape.tensor(x), rest), 1.0F);
    tape.accumulate(x, calls.multiply(dy, calls.multiply(share, inner)));
  }
};

struct Exp {
  Value x;

  void backward(Tape& tape, Value output) const {
    tape.accumulate(x, tape.calls().multiply(tape.gradient(output), tape.tensor(output)));
  }
};

struct Clip {
  Value x;
  float low, high;

  void backward(Tape& tape, Value output) const {
    const Calls& calls = tape.calls();
    const ops::Tensor above = calls.eltwise(Eltwise::ge, tape.tensor(x), low);
    const ops::Tensor below = calls.eltwise(Eltwise::le, tape.tensor(x), high);
    tape.accumulate(x, calls.multiply(tape.gradient(output), calls.multiply(above, below)));
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
    const std::vector<ops::Tensor> slopes = calls.call_all(
        SwigluBackwardAttributes{}, {tape.tensor(gate), tape.tensor(up), tape.gradient(output)});
    tape.accumulate(up, slopes[1]);
    tape.accumulate(gate, slopes[0]);
  }
};

ops::Tensor dropped(const Tape& tape, const ops::Tensor& x, const DropoutAttributes& drop) {
  const auto& offset = tape.options().seed_offset;
  return offset ? tape.calls().call(drop, {x, *offset}) : tape.calls().call(drop, {x});
}

struct Dropout {
  Value x;
  DropoutAttributes drop;

  void backward(Tape& tape, Value output) const {
    tape.accumulate(x, dropped(tape, tape.gradient(output), drop));
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

Value silu(Tape& tape, Value x, bool composed) {
  return tape.record(tape.calls().eltwise(Eltwise::silu, tape.tensor(x)), {x}, Silu{x, composed});
}

Value exp(Tape& tape, Value x) {
  return tape.record(tape.calls().eltwise(Eltwise::exp, tape.tensor(x)), {x}, Exp{x});
}

Value clip(Tape& tape, Value x, float low, float high) {
  EltwiseAttributes limits = eltwise_of(Eltwise::clamp);
  limits.numbers = {low, high};
  return tape.record(tape.calls().call(limits, {tape.tensor(x)}, tape.spec(x)), {x},
                     Clip{x, low, high});
}

Value sigmoid(Tape& tape, Value x) {
  return tape.record(tape.calls().eltwise(Eltwise::sigmoid, tape.tensor(x)), {x}, Sigmoid{x});
}

Value gated(Tape& tape, Value gate, Value up) {
  const EltwiseAttributes product{
      .function = Eltwise::multiply, .scalar = {}, .on_a = {step_of(Eltwise::silu)}};
  return tape.record(tape.calls().call(product, {tape.tensor(gate), tape.tensor(up)}), {gate, up},
                     Gated{gate, up});
}

Value dropout(Tape& tape, Value x, float probability) {
  if (probability == 0) return x;
  const DropoutAttributes drop{.probability = probability, .seed = tape.next_seed()};
  return tape.record(dropped(tape, tape.tensor(x), drop), {x}, Dropout{x, drop});
}

}  // namespace howard::autograd
