// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/autograd/tape.h"

namespace howard::autograd {

/// A part of a model that is a function of one value; it is called as (model.*function)(tape, x,
/// index).
template <class Model>
using Block = Value (Model::*)(Tape& tape, Value x, int index);

/// Runs the block without keeping what it computes on the way. The backward pass runs it forward
/// again, with the same seeds (TTML's runner "memory_efficient"). `model` must outlive the tape.
template <class Model>
Value recomputed(Tape& tape, Value x, Model& model, Block<Model> block, int index) {
  struct Node {
    Model* model;
    Block<Model> block;
    int index;
    Value x;
    std::uint32_t seed;

    void backward(Tape& outer, Value output) const {
      TapeOptions options = outer.options();
      options.seed = seed;
      Tape inner(outer.calls().device(), options);
      const Value input = inner.leaf(outer.tensor(x));
      inner.backward((model->*block)(inner, input, index), outer.gradient(output));
      outer.accumulate(x, inner.gradient(input));
    }
  };
  TapeOptions options = tape.options();
  options.seed = tape.seed();
  options.records = false;
  Tape inner(tape.calls().device(), options);
  const Value result = (model.*block)(inner, inner.constant(tape.tensor(x)), index);
  tape.skip_to_seed(inner.seed());
  return tape.record(inner.tensor(result), {x}, Node{&model, block, index, x, options.seed});
}

}  // namespace howard::autograd
