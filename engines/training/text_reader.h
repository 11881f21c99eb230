// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engines/models/cached_llama.h"
#include "engines/models/language_model.h"

namespace howard::training {

/// Says what follows a text.
class TextReader {
 public:
  virtual ~TextReader() = default;

  /// The logits of the token that follows `text`, which is not empty: a whole text, or the last one
  /// with more tokens behind it.
  virtual std::vector<float> logits(std::span<const std::uint32_t> text) = 0;
};

/// Reads the whole text each time, without dropout: it stands at the beginning of the model's
/// sequence, the rest padded, and of a longer text the end counts. Copies the parameters of
/// `trained`.
std::unique_ptr<TextReader> window_reader(Device& device, models::LanguageModel& trained);

/// Reads each token once, with a cache. Throws Error for a text longer than the cache, and as
/// models::CachedLlama.
std::unique_ptr<TextReader> cache_reader(Device& device, models::Llama& model,
                                         const models::CacheOptions& options);

}  // namespace howard::training
