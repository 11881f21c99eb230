// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "engines/language/tokens/corpus.h"
#include "engines/models/language_model.h"

namespace howard::training {

/// Takes the last tenth of the tokens out of `corpus` and returns it: TTML's 90/10 split.
std::vector<std::uint32_t> hold_out(language::Corpus& corpus);

/// Runs a window, whose tokens and targets `model` has, forward on `tape`. Returns its loss, or 0
/// if another device counts it.
using WindowLoss = std::function<float(models::LanguageModel& model, autograd::Tape& tape)>;

/// Says how well a model predicts tokens that it is not trained on.
class Validation {
 public:
  /// Takes `sequences` windows that are spread evenly over `tokens`. `trained` and `device` must
  /// outlive this object. Throws Error when the tokens are too few for a window and the token
  /// behind it. Without `loss_of`, the model is whole on this device.
  Validation(Device& device, models::LanguageModel& trained, std::vector<std::uint32_t> tokens,
             std::int64_t sequences, WindowLoss loss_of = {});
  ~Validation();

  /// Returns the mean loss of the windows with the present parameters, without dropout. Of several
  /// groups that divide the windows, `group` runs its own, and the losses of all add up to the
  /// mean.
  float loss(int group = 0, int groups = 1);

 private:
  Device& device_;
  models::LanguageModel& trained_;
  std::unique_ptr<models::LanguageModel> model_;  ///< A model of one sequence, without dropout.
  std::vector<std::uint32_t> tokens_;
  std::int64_t sequences_;
  WindowLoss loss_of_;
};

}  // namespace howard::training
