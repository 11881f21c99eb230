// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "engines/models/language_model.h"

namespace howard::models {

/// A batch on the device, which a step reads.
struct BatchTensors {
  ops::Tensor tokens, targets;
  /// [batch, 1, sequence, 1], what the loss of each position is multiplied by; absent for 1.
  std::optional<ops::Tensor> weights;
};

/// Says whether the positions of a batch have weights.
enum class Weights : bool { none, given };

/// Returns the model's own inputs as a batch.
BatchTensors own_batch(Device& device, const LanguageModel& model, Weights weights);
/// Makes another batch of the same specs.
BatchTensors make_batch(Device& device, const LanguageModel& model, Weights weights);

/// Returns the mean loss of a batch, of weighted positions if it has weights. Those are for models
/// whose layers no devices divide.
autograd::Value batch_loss(autograd::Tape& tape, LanguageModel& model, const BatchTensors& batch);

}  // namespace howard::models
