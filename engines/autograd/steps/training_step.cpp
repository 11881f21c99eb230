// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/steps/training_step.h"

#include <optional>
#include <string>
#include <utility>

#include "base/error.h"

namespace howard::autograd {
namespace {

using ops::Tensor;

Tensor run_batch(Device& device, const LossFunction& loss, const TapeOptions& tape_options,
                 const TrainingOptions& options, int batch) {
  Tape tape(device, tape_options);
  device.begin_phase("forward");
  const Value value = loss(tape, batch);
  Tensor result = tape.tensor(value);
  if (options.after_forward) options.after_forward(device, result);
  device.begin_phase("backward");
  tape.backward(value, 1 / static_cast<float>(options.batches));
  return result;
}

}  // namespace

StepFunction training_step(LossFunction loss, Optimizer& optimizer,
                           const TrainingOptions& options) {
  if (options.batches < 1) {
    throw Error({.attempted = "accumulate gradients",
                 .value = "over " + std::to_string(options.batches) + " batches",
                 .accepted = "1 or more"});
  }
  return [loss = std::move(loss), &optimizer, options,
          seed = options.tape.seed](Device& device) mutable {
    const float share = 1 / static_cast<float>(options.batches);
    const Calls calls(device, options.tape.calls);
    std::optional<Tensor> total;
    if (options.tape.seed_offset) seed = options.tape.seed;
    for (int batch = 0; batch < options.batches; ++batch) {
      TapeOptions tape = options.tape;
      tape.seed = seed;
      seed += kSeedsOfOneBatch;
      const Tensor one = run_batch(device, loss, tape, options, batch);
      total = total ? calls.add(*total, one) : one;
    }
    device.begin_phase("step");
    optimizer.step(calls);
    return options.batches == 1 ? *total : calls.multiply(*total, share);
  };
}

}  // namespace howard::autograd
