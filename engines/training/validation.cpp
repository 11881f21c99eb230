// SPDX-License-Identifier: Apache-2.0
#include "engines/training/validation.h"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "base/error.h"
#include "engines/autograd/host_values.h"

namespace howard::training {

std::vector<std::uint32_t> hold_out(language::Corpus& corpus, std::int64_t numbers) {
  const std::int64_t samples = std::ssize(corpus.tokens) / numbers;
  if (samples < 10) {
    const char* const what = numbers == 1 ? "tokens" : "examples";
    throw Error({.attempted = fmt::format("hold out a tenth of the {} for validation", what),
                 .value = fmt::format("{} in all", samples),
                 .accepted = "10 or more",
                 .hint = fmt::format("more {}, or no eval_every", what)});
  }
  const std::ptrdiff_t kept = std::ssize(corpus.tokens) - samples / 10 * numbers;
  std::vector<std::uint32_t> held(corpus.tokens.begin() + kept, corpus.tokens.end());
  corpus.tokens.resize(static_cast<std::size_t>(kept));
  return held;
}

Validation::Validation(Device& device, models::LanguageModel& trained,
                       std::vector<std::uint32_t> tokens, std::int64_t sequences, SampleForm form,
                       WindowLoss loss_of)
    : device_(device),
      trained_(trained),
      model_(trained.of_one_sequence(device)),
      window_(models::own_batch(
          device, *model_,
          form == SampleForm::examples ? models::Weights::given : models::Weights::none)),
      tokens_(std::move(tokens)),
      sequences_(sequences),
      form_(form),
      loss_of_(std::move(loss_of)) {
  if (!loss_of_) {
    loss_of_ = [&queue = device.command_queue(0)](models::LanguageModel& model,
                                                  autograd::Tape& tape,
                                                  const models::BatchTensors& window) {
      return autograd::read_values(queue, tape.tensor(models::batch_loss(tape, model, window)))[0];
    };
  }
  const std::int64_t sequence = model_->tokens().spec().shape.columns();
  if (sample_count(std::ssize(tokens_), sequence, form) > 0) return;
  throw Error({.attempted = "validate a training",
               .value = fmt::format("{} tokens are held out", tokens_.size()),
               .accepted = fmt::format("more than a sequence of {}", sequence),
               .hint = "a longer text, or no eval_every"});
}

Validation::~Validation() = default;

float Validation::loss(int group, int groups) {
  CommandQueue& queue = device_.command_queue(0);
  models::copy_parameters(queue, trained_, *model_);
  const std::int64_t sequence = model_->tokens().spec().shape.columns();
  const std::int64_t last = sample_count(std::ssize(tokens_), sequence, form_) - 1;
  double sum = 0;
  for (std::int64_t i = group; i < sequences_; i += groups) {
    const Batch sample =
        sample_of(tokens_, sequence, form_, sequences_ == 1 ? 0 : last * i / (sequences_ - 1));
    autograd::write_indices(queue, window_.tokens, sample.tokens);
    autograd::write_indices(queue, window_.targets, sample.targets);
    if (window_.weights) autograd::write_values(queue, *window_.weights, sample.weights);
    autograd::Tape tape(device_, {.calls = {.products = models::kTtmlProducts},
                                  .compute = model_->compute(),
                                  .records = false});
    sum += double{loss_of_(*model_, tape, window_)};
  }
  return static_cast<float>(sum / static_cast<double>(sequences_));
}

}  // namespace howard::training
