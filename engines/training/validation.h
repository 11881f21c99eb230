// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "engines/language/tokens/corpus.h"
#include "engines/models/batch.h"
#include "engines/training/text_batches.h"

namespace howard::training {

/// Takes the last tenth of the tokens out of `corpus` and returns it: TTML's 90/10 split. Of
/// samples with so many numbers each, it takes whole ones. Throws Error for fewer than ten.
std::vector<std::uint32_t> hold_out(language::Corpus& corpus, std::int64_t numbers = 1);

/// Runs a window with `model` forward on `tape`. Returns its loss, or 0 if another device counts
/// it.
using WindowLoss = std::function<float(models::LanguageModel& model, autograd::Tape& tape,
                                       const models::BatchTensors& window)>;

/// Says how well a model predicts tokens that it is not trained on.
class Validation {
 public:
  /// Takes `sequences` samples that are spread evenly over `tokens`. `trained` and `device` must
  /// outlive this object. Throws Error when the tokens are too few for a sample. Without `loss_of`,
  /// the model is whole on this device.
  Validation(Device& device, models::LanguageModel& trained, std::vector<std::uint32_t> tokens,
             std::int64_t sequences, SampleForm form = SampleForm::windows,
             WindowLoss loss_of = {});
  ~Validation();

  /// Returns the mean loss of the windows with the present parameters, without dropout. Of several
  /// groups that divide the windows, `group` runs its own, and the losses of all add up to the
  /// mean.
  float loss(int group = 0, int groups = 1);

 private:
  Device& device_;
  models::LanguageModel& trained_;
  std::unique_ptr<models::LanguageModel> model_;  ///< A model of one sequence, without dropout.
  models::BatchTensors window_;
  std::vector<std::uint32_t> tokens_;
  std::int64_t sequences_;
  SampleForm form_;
  WindowLoss loss_of_;
};

}  // namespace howard::training
