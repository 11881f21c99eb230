// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "engines/models/language_model.h"
#include "engines/training/tokenizer.h"

namespace howard::training {

/// How the next character is drawn.
struct Sampling {
  float temperature = 1;  ///< Divides the logits; 0 takes the most likely.
  int top_k = 0;          ///< Only the k most likely; 0: all.
  float top_p = 1;        ///< Only the most likely that together reach p.
  /// Divides the positive logits of what is in the text already and multiplies the negative ones.
  float repetition_penalty = 1;
  std::uint32_t seed = 0;
};

/// Throws Error, naming the setting, unless temperature and top_k are 0 or more and top_p is in (0,
/// 1].
void require_valid(const Sampling& sampling);

/// Returns the index that `draw`, in [0, 1), picks among `logits`. It applies temperature, top-k,
/// softmax and top-p, in TTML's order. Among equal logits the first counts as more likely.
std::size_t pick(std::span<const float> logits, const Sampling& sampling, double draw);

/// `count` characters that `model` writes behind `prompt`, a full forward pass without dropout for
/// each: the prompt stands at the beginning of the window, the rest padded, and the window slides
/// when it is full. Fewer once `stop`, asked before each, says so; null: never. Error for an empty
/// prompt, an unknown character in it, or bad sampling.
std::string generate(Device& device, models::LanguageModel& model, const Tokenizer& tokenizer,
                     std::string_view prompt, std::int64_t count, const Sampling& sampling,
                     const std::function<bool()>& stop = {});

}  // namespace howard::training
