// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/functions/rows/loss.h"

#include "engines/autograd/functions/elementwise/arithmetic.h"
#include "engines/ops/tensor.h"

namespace howard::autograd {
namespace {

using ops::Tensor;

struct MeanSquaredError {
  Value prediction, difference;

  void backward(Tape& tape, Value) const {
    const auto elements = static_cast<float>(tape.spec(prediction).shape.elements());
    tape.accumulate(prediction, tape.calls().multiply(tape.tensor(difference),
                                                      2 * tape.loss_gradient() / elements));
  }
};

struct SummedSquaredError {
  MeanSquaredError mean;

  void backward(Tape& tape, Value output) const {
    static_cast<void>(tape.calls().fill(tape.loss_gradient(), tape.spec(output)));
    mean.backward(tape, output);
  }
};

struct MeanCrossEntropy {
  Value logits, targets;
  SlopeForm form;
  bool of_logarithms;

  void backward(Tape& tape, Value output) const {
    const Calls& calls = tape.calls();
    const Tensor slope = form == SlopeForm::given
                             ? tape.gradient(output)
                             : calls.fill(tape.loss_gradient(), tape.spec(output));
    const bool multiplied = form != SlopeForm::kernel;
    const float scale = (multiplied ? 1 : tape.loss_gradient()) /
                        static_cast<float>(tape.spec(targets).shape.elements());
    const Tensor slopes =
        calls.call(CrossEntropyBackwardAttributes{.scale = scale, .of_logarithms = of_logarithms},
                   {tape.tensor(logits), tape.tensor(targets)});
    tape.accumulate(logits, multiplied ? calls.multiply(slopes, slope) : slopes);
  }
};

}  // namespace

Value mean_squared_error(Tape& tape, Value prediction, Value target) {
  const Calls& calls = tape.calls();
  const Tensor difference = calls.subtract(tape.tensor(prediction), tape.tensor(target));
  const Tensor square = calls.multiply(difference, difference);
  const Value kept = tape.constant(difference);
  return tape.record(calls.reduce(Reduction::mean, Dimension::all, square), {prediction},
                     MeanSquaredError{prediction, kept});
}

Value summed_squared_error(Tape& tape, Value prediction, Value target) {
  const Calls& calls = tape.calls();
  const Value difference =
      tape.constant(calls.subtract(tape.tensor(prediction), tape.tensor(target)));
  const Tensor square = calls.multiply(tape.tensor(difference), tape.tensor(difference));
  const Tensor sum = calls.reduce(Reduction::sum, Dimension::all, square);
  const auto elements = static_cast<float>(square.spec().shape.elements());
  return tape.record(calls.multiply(sum, 1 / elements), {prediction},
                     SummedSquaredError{{prediction, difference}});
}

Value composed_mean_squared_error(Tape& tape, Value prediction, Value target) {
  const Value difference = subtract(tape, prediction, target);
  return mean(tape, multiply(tape, difference, difference));
}

Value mean_cross_entropy(Tape& tape, Value logits, Value targets, SlopeForm form,
                         bool of_logarithms) {
  const Calls& calls = tape.calls();
  const Tensor losses = calls.call(CrossEntropyAttributes{.of_logarithms = of_logarithms},
                                   {tape.tensor(logits), tape.tensor(targets)});
  return tape.record(calls.reduce(Reduction::mean, Dimension::all, losses, true), {logits},
                     MeanCrossEntropy{logits, targets, form, of_logarithms});
}

}  // namespace howard::autograd
