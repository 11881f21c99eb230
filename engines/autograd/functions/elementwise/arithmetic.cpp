// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/functions/elementwise/arithmetic.h"

#include <array>

#include "base/check.h"
#include "engines/ops/tensor.h"

namespace howard::autograd {
namespace {

using ops::Tensor;
using Transposed = Calls::Transposed;

struct Add {
  Value a, b;

  void backward(Tape& tape, Value output) const {
    const Tensor dy = tape.gradient(output);
    tape.accumulate(a, dy);
    if (!tape.needs_gradient(b)) return;
    const bool row = tape.spec(b).shape != dy.spec().shape;
    tape.accumulate(b, row ? tape.calls().reduce(Reduction::sum, Dimension::rows, dy) : dy);
  }
};

struct Subtract {
  Value a, b;

  void backward(Tape& tape, Value output) const {
    const Tensor dy = tape.gradient(output);
    tape.accumulate(a, dy);
    if (tape.needs_gradient(b)) tape.accumulate(b, tape.calls().multiply(dy, -1));
  }
};

struct Multiply {
  Value a, b;

  void backward(Tape& tape, Value output) const {
    const Tensor dy = tape.gradient(output);
    if (tape.needs_gradient(a)) tape.accumulate(a, tape.calls().multiply(dy, tape.tensor(b)));
    if (tape.needs_gradient(b)) tape.accumulate(b, tape.calls().multiply(dy, tape.tensor(a)));
  }
};

struct Mean {
  Value a;

  void backward(Tape& tape, Value output) const {
    const TensorSpec& spec = tape.spec(a);
    const Tensor dy = tape.gradient(output);
    const Tensor share = tape.calls().fill(1 / static_cast<float>(spec.shape.elements()), spec);
    tape.accumulate(a, tape.calls().multiply(share, dy));
  }
};

struct Matmul {
  Value a, b;

  void backward(Tape& tape, Value output) const {
    const Tensor dy = tape.gradient(output);
    const Calls& calls = tape.calls();
    if (tape.needs_gradient(a)) {
      tape.accumulate(a, calls.matmul(dy, tape.tensor(b), Transposed::b));
    }
    if (tape.needs_gradient(b)) {
      tape.accumulate(b, calls.matmul(tape.tensor(a), dy, Transposed::a));
    }
  }
};

struct Transpose {
  Value a;

  void backward(Tape& tape, Value output) const {
    tape.accumulate(a, tape.calls().transpose(tape.gradient(output)));
  }
};

struct AsShape {
  Value a;

  void backward(Tape& tape, Value output) const {
    tape.accumulate(a, tape.calls().as_shape(tape.gradient(output), tape.spec(a).shape));
  }
};

struct SideBySide {
  Value a, b;

  void backward(Tape& tape, Value output) const {
    const Calls& calls = tape.calls();
    const Tensor dy = tape.gradient(output);
    std::int64_t first = 0;
    for (const Value part : {a, b}) {
      const TensorSpec& own = tape.spec(part);
      tape.accumulate(part, calls.call(SliceAttributes{.begins = {0, 0, 0, first}}, {dy}, own));
      first += own.shape.columns();
    }
  }
};

struct Relu {
  Value a;

  void backward(Tape& tape, Value output) const {
    const Tensor dy = tape.gradient(output);
    const Tensor mask = tape.calls().eltwise(Eltwise::gtz, tape.tensor(a));
    tape.accumulate(a, tape.calls().multiply(dy, mask));
  }
};

}  // namespace

Value add(Tape& tape, Value a, Value b) {
  const Shape& larger = tape.spec(a).shape;
  const Shape& shape = tape.spec(b).shape;
  HOWARD_CHECK(shape == larger || (shape.elements() == shape.columns() && larger.batch() == 1),
               "equal shapes, or a matrix and a row");
  return tape.record(tape.calls().add(tape.tensor(a), tape.tensor(b)), {a, b}, Add{a, b});
}

Value subtract(Tape& tape, Value a, Value b) {
  HOWARD_CHECK(tape.spec(a).shape == tape.spec(b).shape, "equal shapes");
  return tape.record(tape.calls().subtract(tape.tensor(a), tape.tensor(b)), {a, b}, Subtract{a, b});
}

Value multiply(Tape& tape, Value a, Value b) {
  HOWARD_CHECK(tape.spec(a).shape == tape.spec(b).shape, "equal shapes");
  return tape.record(tape.calls().multiply(tape.tensor(a), tape.tensor(b)), {a, b}, Multiply{a, b});
}

Value mean(Tape& tape, Value a) {
  return tape.record(tape.calls().reduce(Reduction::mean, Dimension::all, tape.tensor(a)), {a},
                     Mean{a});
}

Value matmul(Tape& tape, Value a, Value b) {
  HOWARD_CHECK(tape.spec(a).shape.batch() == 1 && tape.spec(b).shape.batch() == 1, "matrices");
  return tape.record(tape.calls().matmul(tape.tensor(a), tape.tensor(b)), {a, b}, Matmul{a, b});
}

Value transpose(Tape& tape, Value a) {
  return tape.record(tape.calls().transpose(tape.tensor(a)), {a}, Transpose{a});
}

Value as_shape(Tape& tape, Value a, const Shape& shape) {
  return tape.record(tape.calls().as_shape(tape.tensor(a), shape), {a}, AsShape{a});
}

Value side_by_side(Tape& tape, Value a, Value b) {
  return tape.record(tape.calls().call(ConcatAttributes{}, {tape.tensor(a), tape.tensor(b)}),
                     {a, b}, SideBySide{a, b});
}

Value relu(Tape& tape, Value a) {
  return tape.record(tape.calls().eltwise(Eltwise::relu, tape.tensor(a)), {a}, Relu{a});
}

}  // namespace howard::autograd
