// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "engines/autograd/optimizer.h"
#include "engines/autograd/recorder.h"
#include "engines/autograd/tape.h"

namespace howard::autograd {

/// The forward pass of a model for one of the step's batches: its loss.
using LossFunction = std::function<Value(Tape& tape, int batch)>;

/// How far the seeds of one batch are from those of the next: so far that its dropouts, which count
/// on from it, never meet theirs. A run that goes on after n batches begins n times this later.
inline constexpr std::uint32_t kSeedsOfOneBatch = 1U << 16;

/// What a training step does.
struct TrainingOptions {
  TapeOptions tape;  ///< Its seed is that of the first step; with an offset, of every step.
  /// Gradient accumulation: so many batches before each update, the loss of each divided by their
  /// number.
  int batches = 1;
};

/// A step: for each batch a tape, its loss and its backward pass, then the update. Gives the mean
/// of the losses. Run on a device it is the dynamic engine; the others record it.
///
/// `optimizer` must outlive it. Error when `batches` is less than 1.
StepFunction training_step(LossFunction loss, Optimizer& optimizer,
                           const TrainingOptions& options = {});

}  // namespace howard::autograd
