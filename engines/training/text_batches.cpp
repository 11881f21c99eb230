// SPDX-License-Identifier: Apache-2.0
#include "engines/training/text_batches.h"

#include <fmt/format.h>

#include <numeric>
#include <random>
#include <utility>

#include "base/error.h"

namespace howard::training {

TextBatches::TextBatches(std::vector<std::uint32_t> text, std::int64_t batch, std::int64_t sequence,
                         std::uint32_t seed, SampleForm form)
    : text_(std::move(text)),
      batch_(batch),
      sequence_(sequence),
      form_(form),
      samples_(form == SampleForm::labelled
                   ? static_cast<std::int64_t>(text_.size()) / (sequence + 1)
                   : static_cast<std::int64_t>(text_.size()) - sequence),
      seed_(seed) {
  if (samples_ >= 1 && samples_ >= batch) return;
  if (form == SampleForm::labelled) {
    throw Error({.attempted = fmt::format("make batches of {} pictures", batch),
                 .value = fmt::format("{} pictures", samples_),
                 .accepted = fmt::format("{} or more", batch),
                 .hint = samples_ > 0 ? fmt::format("--with batch_size={}", samples_) : ""});
  }
  throw Error({.attempted = fmt::format("cut a text into sequences of {} characters", sequence),
               .value = fmt::format("a text of {}", text_.size()),
               .accepted = fmt::format("{} or more, for a batch of {} sequences and the character "
                                       "behind each",
                                       sequence + batch, batch),
               .hint = "a longer text, or a smaller sequence or batch"});
}

void TextBatches::shuffle(std::int64_t epoch) {
  epoch_ = epoch;
  order_.resize(static_cast<std::size_t>(samples_));
  std::iota(order_.begin(), order_.end(), 0U);
  std::seed_seq seeds{seed_, static_cast<std::uint32_t>(epoch)};
  std::mt19937_64 random(seeds);
  // std::shuffle may differ between libraries. The bias of the remainder is below 2^-32.
  for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random() % i]);
}

Batch TextBatches::batch(std::int64_t number) {
  if (const std::int64_t epoch = number / batches_in_epoch(); epoch != epoch_) shuffle(epoch);
  const std::int64_t first = number % batches_in_epoch() * batch_;
  Batch result;
  for (std::int64_t i = 0; i < batch_; ++i) {
    const std::int64_t sample = order_[static_cast<std::size_t>(first + i)];
    const bool labelled = form_ == SampleForm::labelled;
    const auto begin = text_.begin() + sample * (labelled ? sequence_ + 1 : 1);
    result.tokens.insert(result.tokens.end(), begin, begin + sequence_);
    const auto targets = begin + (labelled ? sequence_ : 1);
    result.targets.insert(result.targets.end(), targets, targets + (labelled ? 1 : sequence_));
  }
  return result;
}

}  // namespace howard::training
