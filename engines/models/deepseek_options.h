// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace howard::models {

/// Says how the scores of experts become shares.
enum class ScoreFunction : std::uint8_t { sigmoid, softmax };

/// What a deepseek (deepseek.h) has besides the sizes of ModelOptions, with TTML's defaults.
struct DeepSeekOptions {
  /// So many blocks, the first ones, have a feed-forward part as a llama's; the others have
  /// experts.
  int dense_layers = 2;
  int experts = 8;
  int chosen = 2;  ///< How many of them a token has.
  int shared =
      1;  ///< The experts that every token has besides; they are one that is so much wider.
  int groups = 2;                   ///< Experts are in groups of equal size,
  int limited = 1;                  ///< and those of a token are within its best so many groups.
  std::int64_t expert_width = 256;  ///< The columns of an expert's feed-forward part.
  ScoreFunction scores = ScoreFunction::sigmoid;
  float route_scale = 2.5F;        ///< The shares of a token's experts are multiplied by this.
  std::int64_t query_rank = 256;   ///< The width of the rows that queries come from; 0: those of x.
  std::int64_t latent_rank = 128;  ///< The width of the rows that keys and values come from.
  std::int64_t plain_width = 64;   ///< The columns of a head of q and k that are not turned,
  std::int64_t turned_width = 32;  ///< and those that rotary positions turn.
  std::int64_t value_width = 64;   ///< The columns of a head of v.

  /// Returns the columns of a head of q and k.
  std::int64_t head_columns() const { return plain_width + turned_width; }
  /// Returns how many experts a token may choose among.
  int available() const { return experts / groups * limited; }

  friend bool operator==(const DeepSeekOptions&, const DeepSeekOptions&) = default;
};

}  // namespace howard::models
