// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "engines/autograd/optimizers/optimizer.h"
#include "engines/autograd/steps/step_recorder.h"
#include "engines/autograd/tape.h"

namespace howard::autograd {

/// Runs the forward pass of a model for one of the step's batches and returns its loss.
using LossFunction = std::function<Value(Tape& tape, int batch)>;

/// The distance between the seeds of one batch and those of the next. It is so large that the
/// dropouts of one batch, which count on from its seed, never reach the next batch's seeds. A run
/// that continues after n batches begins n times this distance later.
inline constexpr std::uint32_t kSeedsOfOneBatch = 1U << 16;

/// Options of a training step.
struct TrainingOptions {
  /// Its seed is that of the first step, or that of every step if there is a seed offset.
  TapeOptions tape;
  /// Gradient accumulation: the number of batches before each update. The loss of each batch is
  /// divided by this number.
  int batches = 1;
  /// Called with the loss of each batch between its forward and its backward pass, if it is set:
  /// TTML reads the loss there.
  std::function<void(Device& device, const ops::Tensor& loss)> after_forward{};
};

/// Makes a step that, for each batch, makes a tape, computes the loss and runs backward, and then
/// updates the parameters. It returns the mean of the losses. When the step runs directly on a
/// device, it is the dynamic engine; the other engines record it. `optimizer` must outlive the
/// step. Throws Error when `batches` is less than 1.
StepFunction training_step(LossFunction loss, Optimizer& optimizer,
                           const TrainingOptions& options = {});

}  // namespace howard::autograd
