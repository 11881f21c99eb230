// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/functions/data_movement/embedding.h"

namespace howard::autograd {
namespace {

using ops::Tensor;

struct Embedding {
  Value indices, table;

  void backward(Tape& tape, Value output) const {
    const Calls& calls = tape.calls();
    const Tensor dy = tape.gradient(output);
    const Shape& shape = tape.spec(table).shape;
    tape.accumulate(table, calls.call(EmbeddingBackwardAttributes{}, {tape.tensor(indices), dy},
                                      {{shape.rows(), shape.columns()}, dy.spec().dtype}));
  }
};

struct AddPositions {
  Value x, positions;

  void backward(Tape& tape, Value output) const {
    const Tensor dy = tape.gradient(output);
    tape.accumulate(x, dy);
    if (!tape.needs_gradient(positions)) return;
    tape.accumulate(positions, tape.calls().reduce(Reduction::sum, Dimension::batch, dy, true));
  }
};

}  // namespace

Value embedding(Tape& tape, Value indices, Value table) {
  const Calls& calls = tape.calls();
  const Tensor& held = tape.tensor(table);
  const Tensor rows =
      held.spec().layout == Layout::tile ? calls.to_layout(held, Layout::row_major) : held;
  return tape.record(calls.call(EmbeddingAttributes{}, {tape.tensor(indices), rows}), {table},
                     Embedding{indices, table});
}

Value add_positions(Tape& tape, Value x, Value positions) {
  return tape.record(tape.calls().add(tape.tensor(x), tape.tensor(positions)), {x, positions},
                     AddPositions{x, positions});
}

}  // namespace howard::autograd
