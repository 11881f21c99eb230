// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/functions/data_movement/columns.h"

#include "engines/ops/tensor.h"

namespace howard::autograd {
namespace {

struct ColumnsOf {
  Value x;
  std::int64_t first;

  void backward(Tape& tape, Value output) const {
    const ops::Tensor dx = tape.calls().make(tape.spec(x));
    tape.calls().run(make_program(PadAttributes{.before = {0, 0, 0, first}, .value = 0},
                                  {tape.gradient(output)}, {dx}));
    tape.accumulate(x, dx);
  }
};

}  // namespace

Value columns_of(Tape& tape, Value x, std::int64_t first, std::int64_t count) {
  const TensorSpec& spec = tape.spec(x);
  const ops::Tensor part = tape.calls().make({spec.shape.with_columns(count), spec.dtype});
  tape.calls().run(
      make_program(SliceAttributes{.begins = {0, 0, 0, first}}, {tape.tensor(x)}, {part}));
  return tape.record(part, {x}, ColumnsOf{x, first});
}

}  // namespace howard::autograd
