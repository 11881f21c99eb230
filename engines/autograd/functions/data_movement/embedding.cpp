// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/functions/data_movement/embedding.h"

namespace howard::autograd {
namespace {

using ops::Tensor;

struct Embedding {
  Value indices, table;

  void backward(Tape& tape, Value output) const {
    const Calls& calls = tape.calls();
    const Tensor dtable = calls.embedding_backward(tape.tensor(indices), tape.gradient(output),
                                                   tape.spec(table).shape.rows());
    tape.accumulate(table, dtable);
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
  return tape.record(calls.embedding(tape.tensor(indices), rows), {table},
                     Embedding{indices, table});
}

Value add_positions(Tape& tape, Value x, Value positions) {
  return tape.record(tape.calls().add(tape.tensor(x), tape.tensor(positions)), {x, positions},
                     AddPositions{x, positions});
}

}  // namespace howard::autograd
