// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/functions/rows/cumsum.h"

namespace howard::autograd {
namespace {

struct Cumsum {
  Value x;
  int dim;

  /// An element is in the sums from its own place on.
  void backward(Tape& tape, Value output) const {
    const CumsumAttributes op{.dim = dim, .flip = true};
    tape.accumulate(x, tape.calls().call(op, {tape.gradient(output)}));
  }
};

}  // namespace

Value cumsum(Tape& tape, Value x, int dim) {
  const CumsumAttributes op{.dim = dim};
  return tape.record(tape.calls().call(op, {tape.tensor(x)}), {x}, Cumsum{x, dim});
}

}  // namespace howard::autograd
