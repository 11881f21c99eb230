// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "engines/program/tensor_spec.h"

namespace howard::language {

/// Turns texts into tokens and back.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// Returns the number of tokens; every token is below it.
  virtual std::int64_t tokens() const = 0;
  /// Throws Error for a text that the tokens cannot spell; the message gives the place.
  virtual std::vector<std::uint32_t> encode(std::string_view text) const = 0;
  /// Decodes tokens. A number that is not a token gives nothing.
  virtual std::string decode(std::span<const std::uint32_t> tokens) const = 0;

  /// The tokens that a generated text may have: from `first` up to, but not including, `end`.
  struct Range {
    std::uint32_t first = 0, end = 0;
  };
  virtual Range written() const { return {0, static_cast<std::uint32_t>(tokens())}; }
  /// Returns the token that a text begins with for the model, if there is one. encode() does not
  /// add it.
  virtual std::optional<std::uint32_t> begin() const { return std::nullopt; }
  /// Returns what a checkpoint keeps of the tokenizer: the characters of a CharacterTokenizer.
  virtual std::vector<std::string> characters() const { return {}; }

  /// Returns tokens() rounded up to whole tiles: the vocabulary of the model.
  std::int64_t vocabulary() const { return ceil_div(tokens(), kTileSide) * kTileSide; }
};

}  // namespace howard::language
