// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engines/training/recipe.h"

namespace howard::training {

/// One batch; its members are [batch, sequence], row by row.
struct Batch {
  std::vector<std::uint32_t> tokens;
  std::vector<std::uint32_t> targets;  ///< For each token, the token that follows it; or a label.
  /// Of examples: 0 where a position has no target; the others are equal, and the mean of all is 1.
  std::vector<float> weights;
};

/// Says what of a corpus is a sample.
enum class SampleForm : std::uint8_t {
  windows,   ///< Each window of the text; its targets are the tokens that follow each of its own.
  labelled,  ///< Samples of `sequence` numbers, one after the other, with one target behind each.
  examples,  ///< The same, with `sequence` targets behind each; kNoTarget where there is none.
};

/// Stands for a target in an example where a position has none, such as in a prompt.
inline constexpr std::uint32_t kNoTarget = 0xFFFF'FFFF;

/// Returns the form of the samples that a recipe is for.
SampleForm form_of(const Recipe& recipe);
/// Returns the numbers of a sample: a sequence, or a picture.
std::int64_t sample_width(const Recipe& recipe);
/// Returns the numbers from the beginning of a sample to that of the next one.
std::int64_t sample_stride(std::int64_t sequence, SampleForm form);
/// Returns how many samples so many numbers of a corpus are.
std::int64_t sample_count(std::int64_t numbers, std::int64_t sequence, SampleForm form);
/// Returns one sample of a corpus, as a batch.
Batch sample_of(std::span<const std::uint32_t> text, std::int64_t sequence, SampleForm form,
                std::int64_t number);

/// Divides a text into TTML's batches. Every window of the text is a sample, so there are as many
/// samples as tokens minus the length of a sequence. An epoch takes them in an order drawn from the
/// seed and leaves out the last, incomplete batch. Labelled samples are taken in the same order. A
/// batch depends only on its number, so a run can continue where it stopped.
class TextBatches {
 public:
  /// Throws Error when the text has fewer samples than a batch.
  TextBatches(std::vector<std::uint32_t> text, std::int64_t batch, std::int64_t sequence,
              std::uint32_t seed, SampleForm form = SampleForm::windows);

  std::int64_t samples() const { return samples_; }
  std::int64_t batches_in_epoch() const { return samples_ / batch_; }
  /// Returns batch `number`, counted from 0.
  Batch batch(std::int64_t number);

 private:
  void shuffle(std::int64_t epoch);

  std::vector<std::uint32_t> text_;
  std::int64_t batch_, sequence_;
  SampleForm form_;
  std::int64_t samples_;
  std::uint32_t seed_;
  std::int64_t epoch_ = -1;  ///< The epoch of `order_`.
  std::vector<std::uint32_t> order_;
};

}  // namespace howard::training
