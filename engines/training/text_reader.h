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

  /// Returns the logits of the token that follows `text`, which must not be empty. `text` is a new
  /// text, or the last one with more tokens behind it.
  virtual std::vector<float> logits(std::span<const std::uint32_t> text) = 0;
};

/// Makes a reader that reads the whole text each time, without dropout. The text stands at the
/// beginning of the model's sequence, and the rest is padded; of a longer text, only the end
/// counts. The parameters of `trained` are copied.
std::unique_ptr<TextReader> window_reader(Device& device, models::LanguageModel& trained);

/// Makes a reader that reads each token once, with a cache. Throws Error as models::CachedLlama
/// does, and for a text that is longer than the cache.
std::unique_ptr<TextReader> cache_reader(Device& device, models::Llama& model,
                                         const models::CacheOptions& options);

}  // namespace howard::training
