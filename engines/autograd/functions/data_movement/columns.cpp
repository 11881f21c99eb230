// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/functions/data_movement/columns.h"

#include "engines/ops/data_movement.h"

namespace howard::autograd {
namespace {

struct ColumnsOf {
  Value x;
  std::int64_t first;

  void backward(Tape& tape, Value output) const {
    const ops::Tensor dx = tape.calls().make(tape.spec(x));
    tape.calls().run(ops::pad(tape.gradient(output), {0, 0, 0, first}, 0, dx));
    tape.accumulate(x, dx);
  }
};

}  // namespace

Value columns_of(Tape& tape, Value x, std::int64_t first, std::int64_t count) {
  const TensorSpec& spec = tape.spec(x);
  const ops::Tensor part = tape.calls().make({spec.shape.with_columns(count), spec.dtype});
  tape.calls().run(ops::slice(tape.tensor(x), {0, 0, 0, first}, part));
  return tape.record(part, {x}, ColumnsOf{x, first});
}

}  // namespace howard::autograd
