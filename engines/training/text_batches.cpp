// SPDX-License-Identifier: Apache-2.0
#include "engines/training/text_batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "base/error.h"

namespace howard::training {
namespace {

/// Gives the positions that have a target a weight, as TTML's sft_collate_fn does: their sum is the
/// number of all positions.
void weigh(Batch& batch) {
  const auto none = std::ranges::count(batch.targets, kNoTarget);
  const auto all = static_cast<float>(batch.targets.size());
  const float weight = all / (all - static_cast<float>(none));
  for (std::uint32_t& target : batch.targets) {
    batch.weights.push_back(target == kNoTarget ? 0 : weight);
    if (target == kNoTarget) target = 0;
  }
}

void append_sample(std::span<const std::uint32_t> text, std::int64_t sequence, SampleForm form,
                   std::int64_t number, Batch& batch) {
  const auto begin = text.begin() + number * sample_stride(sequence, form);
  batch.tokens.insert(batch.tokens.end(), begin, begin + sequence);
  const auto targets = begin + (form == SampleForm::windows ? 1 : sequence);
  batch.targets.insert(batch.targets.end(), targets,
                       targets + (form == SampleForm::labelled ? 1 : sequence));
}

}  // namespace

SampleForm form_of(const Recipe& recipe) {
  if (recipe.model.kind == ModelKind::mlp) return SampleForm::labelled;
  return recipe.examples ? SampleForm::examples : SampleForm::windows;
}

std::int64_t sample_width(const Recipe& recipe) {
  return recipe.model.kind == ModelKind::mlp ? recipe.model.width : recipe.model.sequence;
}

std::int64_t sample_stride(std::int64_t sequence, SampleForm form) {
  if (form == SampleForm::windows) return 1;
  return form == SampleForm::labelled ? sequence + 1 : 2 * sequence;
}

std::int64_t sample_count(std::int64_t numbers, std::int64_t sequence, SampleForm form) {
  if (form == SampleForm::windows) return numbers - sequence;
  return numbers / sample_stride(sequence, form);
}

Batch sample_of(std::span<const std::uint32_t> text, std::int64_t sequence, SampleForm form,
                std::int64_t number) {
  Batch sample;
  append_sample(text, sequence, form, number, sample);
  if (form == SampleForm::examples) weigh(sample);
  return sample;
}

TextBatches::TextBatches(std::vector<std::uint32_t> text, std::int64_t batch, std::int64_t sequence,
                         std::uint32_t seed, SampleForm form)
    : text_(std::move(text)),
      batch_(batch),
      sequence_(sequence),
      form_(form),
      samples_(sample_count(static_cast<std::int64_t>(text_.size()), sequence, form)),
      seed_(seed) {
  if (samples_ >= 1 && samples_ >= batch) return;
  if (form != SampleForm::windows) {
    const char* const what = form == SampleForm::labelled ? "pictures" : "examples";
    throw Error({.attempted = fmt::format("make batches of {} {}", batch, what),
                 .value = fmt::format("{} {}", samples_, what),
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
    append_sample(text_, sequence_, form_, order_[static_cast<std::size_t>(first + i)], result);
  }
  if (form_ == SampleForm::examples) weigh(result);
  return result;
}

}  // namespace howard::training
