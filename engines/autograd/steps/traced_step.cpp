// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/steps/traced_step.h"

#include "base/error.h"

namespace howard::autograd {

TracedStep::TracedStep(Device& device, Step& step, int queue)
    : device_(device), queue_(device.command_queue(queue)), step_(step) {
  if (!step.is_fixed()) {
    throw Error({.attempted = "capture a training step",
                 .value = "its scalars change each step, and a trace repeats them",
                 .accepted =
                     "a step whose changing numbers are on the device: a replayable AdamW, a "
                     "seed offset for dropout; no schedule of SGD",
                 .hint = "the static engine"});
  }
  queue_.begin_trace_capture();
  try {
    step.run();
  } catch (...) {
    device.release_trace(queue_.end_trace_capture());
    throw;
  }
  trace_ = queue_.end_trace_capture();
}

TracedStep::~TracedStep() { device_.release_trace(trace_); }

}  // namespace howard::autograd
