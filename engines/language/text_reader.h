// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engines/models/cached_llama.h"
#include "engines/models/language_model.h"

namespace howard::language {

/// Says what follows a text.
class TextReader {
 public:
  virtual ~TextReader() = default;

  /// Returns the logits of the token that follows `text`, which must not be empty. `text` is a new
  /// text, or the last one with more tokens behind it.
  virtual std::vector<float> logits(std::span<const std::uint32_t> text) = 0;
};

/// Writes a text, or the end of a longer one, to the tokens of a model of one sequence, from their
/// beginning on; the rest is padded. Returns the place of the text's last token.
std::int64_t write_window(CommandQueue& queue, const models::LanguageModel& model,
                          std::span<const std::uint32_t> text);
/// Waits for logits [1, 1, sequence, vocabulary] and returns those of a place.
std::vector<float> logits_at(CommandQueue& queue, const ops::Tensor& logits, std::int64_t place);

/// Makes a reader that reads the whole text each time, without dropout. The text stands at the
/// beginning of the model's sequence, and the rest is padded; of a longer text, only the end
/// counts. The parameters of `trained` are copied.
std::unique_ptr<TextReader> window_reader(Device& device, models::LanguageModel& trained);

/// Makes a reader that reads each token once, with a cache. Throws Error as models::CachedLlama
/// does, and for a text that is longer than the cache.
std::unique_ptr<TextReader> cache_reader(Device& device, models::Llama& model,
                                         const models::CacheOptions& options);

}  // namespace howard::language
