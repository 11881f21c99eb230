// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "engines/models/nano_gpt.h"
#include "engines/training/tokenizer.h"

namespace howard::training {

/// How the next character is drawn.
struct Sampling {
  float temperature = 1;  ///< The logits are divided by this; 0 takes the most likely character.
  int top_k = 0;          ///< Considers only the k most likely characters; 0 means all.
  /// Considers only the most likely characters that together reach probability p.
  float top_p = 1;
  std::uint32_t seed = 0;
};

/// Throws Error, naming the setting, unless temperature and top_k are 0 or more and top_p is in (0,
/// 1].
void require_valid(const Sampling& sampling);

/// Returns the index that `draw`, in [0, 1), picks among `logits`. It applies temperature, top-k,
/// softmax and top-p, in TTML's order. Among equal logits the first counts as more likely.
std::size_t pick(std::span<const float> logits, const Sampling& sampling, double draw);

/// Returns `count` characters that `model` writes after `prompt`. Each character takes a full
/// forward pass without dropout. The prompt stands at the beginning of the window, the rest is
/// padded, and the window slides when it is full. `stop` is asked before each character and can end
/// the text early; null never does. Throws Error for an empty prompt, for an unknown character in
/// it, and for invalid sampling settings.
std::string generate(Device& device, models::NanoGpt& model, const Tokenizer& tokenizer,
                     std::string_view prompt, std::int64_t count, const Sampling& sampling,
                     const std::function<bool()>& stop = {});

}  // namespace howard::training
