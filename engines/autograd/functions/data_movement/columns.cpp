// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/functions/data_movement/columns.h"

#include "engines/ops/tensor.h"

namespace howard::autograd {
namespace {

struct ColumnsOf {
  Value x;
  std::int64_t first;

  void backward(Tape& tape, Value output) const {
    tape.accumulate(x, tape.calls().call(PadAttributes{.before = {0, 0, 0, first}, .value = 0},
                                         {tape.gradient(output)}, tape.spec(x)));
  }
};

}  // namespace

Value columns_of(Tape& tape, Value x, std::int64_t first, std::int64_t count) {
  const TensorSpec& spec = tape.spec(x);
  const ops::Tensor part =
      tape.calls().call(SliceAttributes{.begins = {0, 0, 0, first}}, {tape.tensor(x)},
                        {spec.shape.with_columns(count), spec.dtype});
  return tape.record(part, {x}, ColumnsOf{x, first});
}

}  // namespace howard::autograd
