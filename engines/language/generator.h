// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engines/language/text_reader.h"
#include "engines/language/tokens/tokenizer.h"
#include "engines/models/language_model.h"

namespace howard::language {

/// Says how the next token is drawn.
struct Sampling {
  float temperature = 1;  ///< Divides the logits; 0 takes the most likely token.
  int top_k = 0;          ///< Only the k most likely tokens are drawn; 0 means all.
  float top_p = 1;        ///< Only the most likely tokens that together reach p are drawn.
  /// Divides the positive logits of tokens that are in the text already, and multiplies the
  /// negative ones.
  float repetition_penalty = 1;
  std::uint32_t seed = 0;
};

/// Throws Error, naming the setting, unless temperature and top_k are 0 or more and top_p is in (0,
/// 1].
void require_valid(const Sampling& sampling);

/// Returns the index that `draw`, in [0, 1), picks among `logits`. It applies temperature, top-k,
/// softmax and top-p, in TTML's order. Among equal logits the first counts as more likely.
std::size_t pick(std::span<const float> logits, const Sampling& sampling, double draw);

/// Says what a text may consist of, and where it ends.
struct WrittenTokens {
  Tokenizer::Range range;
  std::vector<std::uint32_t> ends;  ///< Nothing is written behind one of these tokens.
};

/// Is called with each token as it is written.
using TokenSink = std::function<void(std::uint32_t token)>;

/// Returns up to `count` tokens that `reader` writes behind `text`, which must not be empty. It
/// ends earlier behind a token that ends a text, or when `stop`, which is asked before each token,
/// returns true; `stop` may be null. Throws Error for bad sampling and for logits that are not
/// finite.
std::vector<std::uint32_t> continue_text(TextReader& reader, std::vector<std::uint32_t> text,
                                         std::int64_t count, const Sampling& sampling,
                                         const WrittenTokens& written,
                                         const std::function<bool()>& stop,
                                         const TokenSink& sink = {});

/// Returns `count` tokens, as text, that `reader` writes behind `prompt`. Throws Error as
/// continue_text() does, for an empty prompt and for one that the tokenizer cannot read.
std::string generate(TextReader& reader, const Tokenizer& tokenizer, std::string_view prompt,
                     std::int64_t count, const Sampling& sampling,
                     const std::function<bool()>& stop = {});

}  // namespace howard::language
