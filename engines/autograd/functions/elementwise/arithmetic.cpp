// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/functions/elementwise/arithmetic.h"

#include <array>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "engines/ops/tensor.h"

namespace howard::autograd {
namespace {

using ops::Tensor;
using Transposed = Calls::Transposed;

/// Hands an operand what its broadcasts have together.
void accumulate_sum(Tape& tape, Value input, const Tensor& gradient) {
  if (!tape.needs_gradient(input)) return;
  tape.accumulate(input, summed_to(tape.calls(), gradient, tape.spec(input).shape));
}

struct Add {
  Value a, b;

  void backward(Tape& tape, Value output) const {
    const Tensor dy = tape.gradient(output);
    accumulate_sum(tape, a, dy);
    accumulate_sum(tape, b, dy);
  }
};

struct Subtract {
  Value a, b;

  void backward(Tape& tape, Value output) const {
    const Tensor dy = tape.gradient(output);
    accumulate_sum(tape, a, dy);
    if (tape.needs_gradient(b)) accumulate_sum(tape, b, tape.calls().eltwise(Eltwise::neg, dy));
  }
};

struct Multiply {
  Value a, b;

  void backward(Tape& tape, Value output) const {
    const Tensor dy = tape.gradient(output);
    const Calls& calls = tape.calls();
    if (tape.needs_gradient(a)) accumulate_sum(tape, a, calls.multiply(dy, tape.tensor(b)));
    if (tape.needs_gradient(b)) accumulate_sum(tape, b, calls.multiply(dy, tape.tensor(a)));
  }
};

/// An element has the gradient where a comparison of both holds: one for a, and its opposite for b.
struct Extreme {
  Value a, b;
  Eltwise of_a, of_b;

  void backward(Tape& tape, Value output) const {
    const Tensor dy = tape.gradient(output);
    const Calls& calls = tape.calls();
    for (const auto& [input, chosen] : {std::pair(a, of_a), std::pair(b, of_b)}) {
      if (!tape.needs_gradient(input)) continue;
      const Tensor mask = calls.eltwise(chosen, tape.tensor(a), tape.tensor(b));
      accumulate_sum(tape, input, calls.multiply(dy, mask));
    }
  }
};

struct Divide {
  Value a, b, inverse;

  void backward(Tape& tape, Value output) const {
    const Calls& calls = tape.calls();
    const Tensor da = calls.multiply(tape.gradient(output), tape.tensor(inverse));
    tape.accumulate(a, da);
    if (!tape.needs_gradient(b)) return;
    const Tensor share = calls.multiply(calls.multiply(da, tape.tensor(a)), tape.tensor(inverse));
    tape.accumulate(b, calls.eltwise(Eltwise::neg, share));
  }
};

struct Scale {
  Value a;
  float factor;

  void backward(Tape& tape, Value output) const {
    tape.accumulate(a, tape.calls().multiply(tape.gradient(output), factor));
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

Tensor summed_to(const Calls& calls, Tensor gradient, const Shape& shape) {
  const Shape found = gradient.spec().shape;
  const auto sum = [&](Dimension dimension) {
    gradient = calls.reduce(Reduction::sum, dimension, gradient);
  };
  const auto differs = [&](std::size_t i) {
    return found.dimensions().at(i) != shape.dimensions().at(i);
  };
  if (differs(0) && differs(1) && differs(2) && differs(3)) {
    sum(Dimension::all);
    return gradient;
  }
  if (differs(3)) sum(Dimension::columns);
  if (differs(2)) sum(Dimension::rows);
  const Shape matrix = gradient.spec().shape;
  const std::int64_t rows = matrix.rows(), columns = matrix.columns();
  const auto sum_matrices = [&](const Shape& from, const Shape& to) {
    const ReduceAttributes op{.reduction = Reduction::sum, .dimension = Dimension::batch};
    const TensorSpec result{to, gradient.spec().dtype};
    gradient = calls.call(op, {calls.as_shape(gradient, from)}, result);
  };
  if (differs(1)) sum_matrices(matrix, {matrix.outer(), 1, rows, columns});
  if (differs(0)) {
    const std::int64_t heads = gradient.spec().shape.heads();
    sum_matrices({matrix.outer(), 1, heads * rows, columns}, {heads * rows, columns});
    gradient = calls.as_shape(gradient, shape);
  }
  return gradient;
}

Value add(Tape& tape, Value a, Value b) {
  return tape.record(tape.calls().add(tape.tensor(a), tape.tensor(b)), {a, b}, Add{a, b});
}

Value subtract(Tape& tape, Value a, Value b) {
  return tape.record(tape.calls().subtract(tape.tensor(a), tape.tensor(b)), {a, b}, Subtract{a, b});
}

Value multiply(Tape& tape, Value a, Value b) {
  return tape.record(tape.calls().multiply(tape.tensor(a), tape.tensor(b)), {a, b}, Multiply{a, b});
}

Value minimum(Tape& tape, Value a, Value b) {
  return tape.record(tape.calls().eltwise(Eltwise::minimum, tape.tensor(a), tape.tensor(b)), {a, b},
                     Extreme{a, b, Eltwise::le, Eltwise::gt});
}

Value maximum(Tape& tape, Value a, Value b) {
  return tape.record(tape.calls().eltwise(Eltwise::maximum, tape.tensor(a), tape.tensor(b)), {a, b},
                     Extreme{a, b, Eltwise::ge, Eltwise::lt});
}

Value divide(Tape& tape, Value a, Value b) {
  const Calls& calls = tape.calls();
  if (tape.spec(a).shape != tape.spec(b).shape) {
    throw Error({.attempted = "divide",
                 .value = tape.spec(a).shape.text() + " by " + tape.spec(b).shape.text(),
                 .accepted = "equal shapes"});
  }
  const Value inverse = tape.constant(calls.eltwise(Eltwise::reciprocal, tape.tensor(b)));
  return tape.record(calls.multiply(tape.tensor(a), tape.tensor(inverse)), {a, b},
                     Divide{a, b, inverse});
}

Value scale(Tape& tape, Value a, float factor) {
  return tape.record(tape.calls().multiply(tape.tensor(a), factor), {a}, Scale{a, factor});
}

Value mean(Tape& tape, Value a, bool moreh) {
  return tape.record(tape.calls().reduce(Reduction::mean, Dimension::all, tape.tensor(a), moreh),
                     {a}, Mean{a});
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
