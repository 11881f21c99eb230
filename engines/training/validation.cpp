// SPDX-License-Identifier: Apache-2.0
#include "engines/training/validation.h"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "base/error.h"
#include "engines/autograd/host_values.h"

namespace howard::training {

std::vector<std::uint32_t> hold_out(language::Corpus& corpus) {
  const auto kept = static_cast<std::ptrdiff_t>(corpus.tokens.size() - corpus.tokens.size() / 10);
  std::vector<std::uint32_t> held(corpus.tokens.begin() + kept, corpus.tokens.end());
  corpus.tokens.resize(static_cast<std::size_t>(kept));
  return held;
}

Validation::Validation(Device& device, models::LanguageModel& trained,
                       std::vector<std::uint32_t> tokens, std::int64_t sequences,
                       WindowLoss loss_of)
    : device_(device),
      trained_(trained),
      model_(trained.of_one_sequence(device)),
      tokens_(std::move(tokens)),
      sequences_(sequences),
      loss_of_(std::move(loss_of)) {
  if (!loss_of_) {
    loss_of_ = [&queue = device.command_queue(0)](models::LanguageModel& model,
                                                  autograd::Tape& tape) {
      const autograd::Value loss = model.loss(tape, model.tokens(), model.targets());
      return autograd::read_values(queue, tape.tensor(loss))[0];
    };
  }
  const std::int64_t sequence = model_->tokens().spec().shape.columns();
  if (static_cast<std::int64_t>(tokens_.size()) > sequence) return;
  throw Error({.attempted = "validate a training",
               .value = fmt::format("{} tokens are held out", tokens_.size()),
               .accepted = fmt::format("more than a sequence of {}", sequence),
               .hint = "a longer text, or no eval_every"});
}

Validation::~Validation() = default;

float Validation::loss(int group, int groups) {
  CommandQueue& queue = device_.command_queue(0);
  models::copy_parameters(queue, trained_, *model_);
  const auto sequence = static_cast<std::size_t>(model_->tokens().spec().shape.columns());
  const std::size_t last = tokens_.size() - sequence - 1;
  double sum = 0;
  for (std::int64_t i = group; i < sequences_; i += groups) {
    const std::size_t begin = sequences_ == 1 ? 0
                                              : last * static_cast<std::size_t>(i) /
                                                    static_cast<std::size_t>(sequences_ - 1);
    const std::span<const std::uint32_t> all(tokens_);
    autograd::write_indices(queue, model_->tokens(), all.subspan(begin, sequence));
    autograd::write_indices(queue, model_->targets(), all.subspan(begin + 1, sequence));
    autograd::Tape tape(device_, {.calls = {.products = models::kTtmlProducts},
                                  .compute = model_->compute(),
                                  .records = false});
    sum += double{loss_of_(*model_, tape)};
  }
  return static_cast<float>(sum / static_cast<double>(sequences_));
}

}  // namespace howard::training
