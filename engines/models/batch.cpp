// SPDX-License-Identifier: Apache-2.0
#include "engines/models/batch.h"

#include "engines/autograd/functions/rows/weighted_loss.h"

namespace howard::models {
namespace {

std::optional<ops::Tensor> make_weights(Device& device, const LanguageModel& model, Weights are) {
  if (are == Weights::none) return std::nullopt;
  const Shape& targets = model.targets().spec().shape;
  return ops::Tensor(
      device, {.shape = {targets.rows(), 1, targets.columns(), 1}, .dtype = model.compute()});
}

}  // namespace

BatchTensors own_batch(Device& device, const LanguageModel& model, Weights weights) {
  return {model.tokens(), model.targets(), make_weights(device, model, weights)};
}

BatchTensors make_batch(Device& device, const LanguageModel& model, Weights weights) {
  return {ops::Tensor(device, model.tokens().spec()), ops::Tensor(device, model.targets().spec()),
          make_weights(device, model, weights)};
}

autograd::Value batch_loss(autograd::Tape& tape, LanguageModel& model, const BatchTensors& batch) {
  if (!batch.weights) return model.loss(tape, batch.tokens, batch.targets);
  return autograd::weighted_cross_entropy(tape, model.logits(tape, batch.tokens),
                                          tape.constant(batch.targets),
                                          tape.constant(*batch.weights));
}

}  // namespace howard::models
