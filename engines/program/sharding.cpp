// SPDX-License-Identifier: Apache-2.0
#include "engines/program/sharding.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "engines/program/tensor_spec.h"

namespace howard {
namespace {

/// Rows and columns of all elements, padded to tiles in tile layout.
struct PhysicalShape {
  std::int64_t rows = 0, columns = 0;
};

PhysicalShape physical_shape(const TensorSpec& spec) {
  const Shape& shape = spec.shape;
  if (spec.layout == Layout::row_major) return {shape.batch() * shape.rows(), shape.columns()};
  return {shape.batch() * shape.tile_rows() * kTileSide, shape.tile_columns() * kTileSide};
}

/// Parses two whole numbers from 1 to `most`, "8x4".
std::optional<std::pair<std::int64_t, std::int64_t>> sizes_of(const std::string& text,
                                                              std::int64_t most) {
  const std::vector<std::string> parts = split(text, 'x');
  if (parts.size() != 2) return std::nullopt;
  const auto first = parse_integer(parts[0]);
  const auto second = parse_integer(parts[1]);
  const auto fits = [&](const auto& number) { return number && *number >= 1 && *number <= most; };
  if (!fits(first) || !fits(second)) return std::nullopt;
  return std::pair(*first, *second);
}

[[noreturn]] void refuse_shards(const TensorSpec& spec, std::string accepted) {
  throw Error({.attempted = "shard a tensor " + spec.shape.text(),
               .value = spec.sharding->text(),
               .accepted = std::move(accepted)});
}

}  // namespace

std::string_view name_of(ShardLayout layout) {
  constexpr std::array<std::string_view, 3> kNames{"height", "width", "block"};
  return kNames.at(static_cast<std::size_t>(layout));
}

std::string Sharding::text() const {
  return fmt::format("{} shards of {}x{} on {}x{} cores", name_of(layout), rows, columns,
                     grid.columns, grid.rows);
}

std::string short_text(const Sharding& shards) {
  return fmt::format("{}:{}x{}:{}x{}{}", name_of(shards.layout), shards.grid.columns,
                     shards.grid.rows, shards.rows, shards.columns,
                     shards.column_major ? ":column_major" : "");
}

std::optional<Sharding> parse_sharding(std::string_view text) {
  const std::vector<std::string> parts = split(text, ':');
  constexpr std::array kLayouts{ShardLayout::height, ShardLayout::width, ShardLayout::block};
  const auto layout = std::ranges::find(kLayouts, parts[0], [](auto one) { return name_of(one); });
  const bool fits = layout != kLayouts.end() &&
                    (parts.size() == 3 || (parts.size() == 4 && parts[3] == "column_major"));
  if (!fits) return std::nullopt;
  constexpr std::int64_t kMostCores = 64;
  constexpr std::int64_t kMostRows = std::int64_t{1} << 32;
  const auto cores = sizes_of(parts[1], kMostCores);
  const auto shard = sizes_of(parts[2], kMostRows);
  if (!cores || !shard) return std::nullopt;
  return Sharding{.layout = *layout,
                  .grid = {static_cast<int>(cores->first), static_cast<int>(cores->second)},
                  .rows = shard->first,
                  .columns = shard->second,
                  .column_major = parts.size() == 4};
}

std::int64_t shards_of(const TensorSpec& spec) {
  const PhysicalShape whole = physical_shape(spec);
  return ceil_div(whole.rows, spec.sharding->rows) *
         ceil_div(whole.columns, spec.sharding->columns);
}

namespace {

/// Throws Error unless the shards have a size, and lie where such shards can.
void require_places(const TensorSpec& spec) {
  const Sharding& shards = *spec.sharding;
  if (shards.rows < 1 || shards.columns < 1 || shards.grid.columns < 1 || shards.grid.rows < 1) {
    refuse_shards(spec, "shards of one element or more, on one core or more");
  }
  const bool in_banks = spec.storage == Storage::dram;
  if (in_banks && (shards.layout == ShardLayout::block || shards.grid.rows != 1)) {
    refuse_shards(spec, "height or width shards in one row of banks, for a tensor in DRAM");
  }
  if (spec.layout == Layout::tile &&
      (shards.rows % kTileSide != 0 || shards.columns % kTileSide != 0)) {
    refuse_shards(spec, "Physical shard shape must be tile {32, 32} sized!");
  }
}

}  // namespace

void require_legal_shards(const TensorSpec& spec) {
  if (!spec.sharding) return;
  require_places(spec);
  const Sharding& shards = *spec.sharding;
  const PhysicalShape whole = physical_shape(spec);
  const std::int64_t high = ceil_div(whole.rows, shards.rows);
  const std::int64_t wide = ceil_div(whole.columns, shards.columns);
  switch (shards.layout) {
    case ShardLayout::height:
      if (shards.columns != whole.columns) {
        refuse_shards(spec, fmt::format("Shard width {} must match physical width {} for height "
                                        "sharded",
                                        shards.columns, whole.columns));
      }
      if (high > shards.grid.cores()) {
        refuse_shards(spec, fmt::format("Number of shards along height {} must not exceed number "
                                        "of cores {}",
                                        high, shards.grid.cores()));
      }
      break;
    case ShardLayout::width:
      if (shards.rows != whole.rows) {
        refuse_shards(spec, fmt::format("Shard height {} must match physical height {} for width "
                                        "sharded",
                                        shards.rows, whole.rows));
      }
      if (wide > shards.grid.cores()) {
        refuse_shards(spec, fmt::format("Number of shards along width {} must not exceed number "
                                        "of cores {}",
                                        wide, shards.grid.cores()));
      }
      break;
    case ShardLayout::block: {
      const int along = shards.column_major ? shards.grid.columns : shards.grid.rows;
      const int across = shards.column_major ? shards.grid.rows : shards.grid.columns;
      const std::string_view order = shards.column_major ? "column" : "row";
      if (high > along) {
        refuse_shards(spec,
                      fmt::format("Number of shards along height {} must not exceed number "
                                  "of {} {} for {} major orientation!",
                                  high, shards.column_major ? "columns" : "rows", along, order));
      }
      if (wide > across) {
        refuse_shards(spec,
                      fmt::format("Number of shards along width {} must not exceed number "
                                  "of {} {} for {} major orientation!",
                                  wide, shards.column_major ? "rows" : "columns", across, order));
      }
      break;
    }
  }
}

}  // namespace howard
