// SPDX-License-Identifier: Apache-2.0
#include "engines/program/program_config.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "engines/program/op_attributes.h"

namespace howard {
namespace {

[[noreturn]] void refuse(std::string_view op, std::string reason) {
  throw Error({.attempted = fmt::format("run {}", op), .value = std::move(reason)});
}

/// Returns a size of a configuration; 0 if it has none of that name.
std::int64_t size_in(std::string_view config, std::string_view name) {
  const auto text = ttnn_member(config, name);
  const auto number = text ? parse_number(*text) : std::nullopt;
  return number ? static_cast<std::int64_t>(*number) : 0;
}

void require_blocks(std::string_view op, std::string_view config, const TensorSpec& x) {
  const std::int64_t h = size_in(config, "block_h"), w = size_in(config, "block_w");
  const std::int64_t subblock = size_in(config, "subblock_w");
  if (h < 1 || w < 1 || subblock < 1) return;
  if (w % subblock != 0) {
    refuse(op, fmt::format("block_w ({}) must be divisible by subblock_w ({})", w, subblock));
  }
  if (!x.sharding) return;
  if (h * kTileSide != x.sharding->rows) {
    refuse(op, fmt::format("block_h ({}) * TILE_HEIGHT must be the shard's height: {}", h,
                           x.sharding->rows));
  }
  if (w * kTileSide != x.sharding->columns) {
    refuse(op, fmt::format("block_w ({}) * TILE_WIDTH must be the shard's width: {}", w,
                           x.sharding->columns));
  }
}

}  // namespace

void require_program_config(std::string_view op, std::string_view config, const TensorSpec& x,
                            CoreGrid grid) {
  const auto text = ttnn_member(config, "compute_with_storage_grid_size");
  const auto wanted = text ? parse_ttnn_grid(*text) : std::nullopt;
  if (wanted && (wanted->columns > grid.columns || wanted->rows > grid.rows)) {
    refuse(op, fmt::format("compute_with_storage_grid_size {}x{} is larger than the {}x{} cores "
                           "that there are",
                           wanted->columns, wanted->rows, grid.columns, grid.rows));
  }
  require_blocks(op, config, x);
}

}  // namespace howard
