// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engines/program/compute_config.h"

namespace howard {

struct TensorSpec;

/// Says how a tensor, all dimensions but the last folded into rows, is cut into shards.
enum class ShardLayout : std::uint8_t {
  height,  ///< Rows only: a shard is as wide as the tensor.
  width,   ///< Columns only: a shard is as high as the tensor.
  block,   ///< A shard is a part of both.
};

/// Returns "height", "width" or "block".
std::string_view name_of(ShardLayout layout);

/// Says how a tensor is cut into shards and which cores hold them, one each, in their order. In
/// DRAM, banks hold them, and the grid is a row of banks.
struct Sharding {
  ShardLayout layout{};
  CoreGrid grid;                       ///< It begins at the first core.
  std::int64_t rows = 0, columns = 0;  ///< The size of a shard in elements.
  bool column_major = false;           ///< Shards go down the columns of the grid first.

  std::string text() const;  ///< "height shards of 32x512 on 8x4 cores".

  friend auto operator<=>(const Sharding&, const Sharding&) = default;
};

/// Returns "height:8x4:32x512": the layout, the grid, and rows and columns of a shard, followed by
/// ":column_major" where shards go down the columns of the grid first.
std::string short_text(const Sharding& shards);

/// Parses such a text. Returns nothing for any other one, for more than 64 columns or rows of cores
/// and for shards of more than 2^32 rows or columns.
std::optional<Sharding> parse_sharding(std::string_view text);

/// Returns how many shards the tensor has, including the last ones that are not full. It must be
/// sharded.
std::int64_t shards_of(const TensorSpec& spec);

/// Throws Error, in ttnn's words, unless the shards of a sharded tensor are legal: as wide or as
/// high as the tensor if its layout says so, whole tiles in tile layout, in one row of banks if
/// they are in DRAM, and no more of them than cores or banks.
void require_legal_shards(const TensorSpec& spec);

}  // namespace howard
