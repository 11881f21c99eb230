// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/functions/rows/weighted_loss.h"

#include "engines/autograd/functions/elementwise/arithmetic.h"

namespace howard::autograd {
namespace {

struct CrossEntropyOfPositions {
  Value logits, targets;

  void backward(Tape& tape, Value output) const {
    const Calls& calls = tape.calls();
    const ops::Tensor slopes =
        calls.call(CrossEntropyBackwardAttributes{}, {tape.tensor(logits), tape.tensor(targets)});
    tape.accumulate(logits, calls.multiply(slopes, tape.gradient(output)));
  }
};

}  // namespace

Value cross_entropies(Tape& tape, Value logits, Value targets) {
  return tape.record(
      tape.calls().call(CrossEntropyAttributes{}, {tape.tensor(logits), tape.tensor(targets)}),
      {logits}, CrossEntropyOfPositions{logits, targets});
}

Value weighted_cross_entropy(Tape& tape, Value logits, Value targets, Value weights) {
  return mean(tape, multiply(tape, cross_entropies(tape, logits, targets), weights));
}

}  // namespace howard::autograd
