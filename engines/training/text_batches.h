// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace howard::training {

/// One batch; both members are [batch, sequence], row by row.
struct Batch {
  std::vector<std::uint32_t> tokens;
  std::vector<std::uint32_t> targets;  ///< For each token, the token that follows it.
};

/// Divides a text into TTML's batches. Every window of the text is a sample, so there are as many
/// samples as tokens minus the length of a sequence. An epoch takes them in an order drawn from the
/// seed and leaves out the last, incomplete batch. A batch depends only on its number, so a run can
/// continue where it stopped.
class TextBatches {
 public:
  /// Throws Error when the text has fewer samples than a batch.
  TextBatches(std::vector<std::uint32_t> text, std::int64_t batch, std::int64_t sequence,
              std::uint32_t seed);

  std::int64_t samples() const { return samples_; }
  std::int64_t batches_in_epoch() const { return samples_ / batch_; }
  /// Returns batch `number`, counted from 0.
  Batch batch(std::int64_t number);

 private:
  void shuffle(std::int64_t epoch);

  std::vector<std::uint32_t> text_;
  std::int64_t batch_, sequence_, samples_;
  std::uint32_t seed_;
  std::int64_t epoch_ = -1;  ///< The epoch of `order_`.
  std::vector<std::uint32_t> order_;
};

}  // namespace howard::training
