// SPDX-License-Identifier: Apache-2.0
#include "profiler/silicon/logged_shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/text.h"
#include "engines/chip/kernels/ttnn_names.h"
#include "profiler/silicon/logged_call.h"

namespace howard::profiler::logged {
namespace {

constexpr std::string_view kConfig = "program_config";
constexpr int kColumns = 8;  // of the grids that users give

std::int64_t field(const OpAttributes& attributes, std::string_view name, std::int64_t otherwise) {
  const auto text = attributes.member(kConfig, name);
  if (!text) return otherwise;
  constexpr std::int64_t kMost = 65'536;
  const auto number = parse_integer(*text);
  if (!number || *number < 1 || *number > kMost) {
    refuse(fmt::format("{}={}", name, *text), "1 to 65536 tiles");
  }
  return *number;
}

/// Returns the numbers behind each `key` of a text, up to the first character that is no digit.
std::vector<std::int64_t> numbers_behind(std::string_view text, std::string_view key) {
  std::vector<std::int64_t> numbers;
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    const std::string_view rest = text.substr(at + key.size());
    const auto number = parse_integer(rest.substr(0, rest.find_first_not_of("0123456789")));
    constexpr std::int64_t kMost = 1'000'000;
    if (number && *number <= kMost) numbers.push_back(*number);
  }
  return numbers;
}

/// Returns the grid that holds all ranges of a text, which ends at "shape=".
std::optional<CoreGrid> grid_of(std::string_view text) {
  text = text.substr(0, text.find("shape="));
  const std::vector<std::int64_t> x = numbers_behind(text, "x="), y = numbers_behind(text, "y=");
  if (x.empty() || y.empty()) return std::nullopt;
  const auto [left, right] = std::ranges::minmax(x);
  const auto [top, bottom] = std::ranges::minmax(y);
  return CoreGrid{static_cast<int>(right - left + 1), static_cast<int>(bottom - top + 1)};
}

/// Returns the most parts of `tiles`, up to `most`, that are equal and multiples of `step`.
std::int64_t even_parts(std::int64_t tiles, std::int64_t most, std::int64_t step) {
  for (std::int64_t parts = std::min(most, tiles); parts > 1; --parts) {
    if (tiles % parts == 0 && (tiles / parts) % step == 0) return parts;
  }
  return 1;
}

CoreGrid grid_for(std::int64_t shards) {
  const std::int64_t columns = std::min<std::int64_t>(kColumns, shards);
  return {static_cast<int>(columns), static_cast<int>(ceil_div(shards, columns))};
}

/// A tensor as it is cut: its rows and columns in tiles, or in elements if it is row-major.
struct Cut {
  std::int64_t high = 1, wide = 1, side = 1;
};

Cut cut_of(const TensorSpec& spec) {
  if (spec.layout == Layout::row_major) {
    return {spec.shape.batch() * spec.shape.rows(), spec.shape.columns(), 1};
  }
  return {spec.shape.batch() * spec.shape.tile_rows(), spec.shape.tile_columns(), kTileSide};
}

/// Returns the shards of whole tiles that lie on `cores` of a grid.
Sharding shards_on(const TensorSpec& spec, const Sharding& like, std::int64_t cores) {
  const auto [high, wide, side] = cut_of(spec);
  Sharding shards = like;
  const int down = like.column_major ? like.grid.columns : like.grid.rows;
  const int across = like.column_major ? like.grid.rows : like.grid.columns;
  switch (like.layout) {
    case ShardLayout::height:
      shards.rows = ceil_div(high, cores) * side;
      shards.columns = wide * side;
      break;
    case ShardLayout::width:
      shards.rows = high * side;
      shards.columns = ceil_div(wide, cores) * side;
      break;
    case ShardLayout::block:
      shards.rows = ceil_div(high, down) * side;
      shards.columns = ceil_div(wide, across) * side;
      break;
  }
  return shards;
}

/// Says what is known of shards beside their layout.
struct ShardRules {
  std::int64_t cores = 64;         ///< That they lie on, at the most.
  std::int64_t rows = 0;           ///< Tiles of a shard's height; 0: not known.
  std::int64_t columns = 0;        ///< Tiles of its width; 0: not known.
  std::int64_t column_step = 1;    ///< Its width is a multiple of these tiles.
  std::int64_t across = kColumns;  ///< The columns of cores of a block, at the most.
  bool all_cores = false;          ///< There is a shard on each of `cores`, if the tiles allow it.
};

/// Returns the tiles of a part, of so many parts if there are such parts, or of as many equal ones
/// as there are below that.
std::int64_t part_of(std::int64_t tiles, const ShardRules& rules) {
  const std::int64_t part = ceil_div(tiles, rules.cores);
  if (rules.all_cores && ceil_div(tiles, part) == rules.cores) return part;
  return tiles / even_parts(tiles, rules.cores, std::max<std::int64_t>(1, rules.column_step));
}

/// Returns how ttnn's users cut a tensor so: on as many cores as have full shards.
Sharding usual_shards(const TensorSpec& spec, ShardLayout layout, const ShardRules& rules) {
  const auto [high, wide, side] = cut_of(spec);
  std::int64_t rows = high, columns = wide;
  CoreGrid grid{1, 1};
  if (layout == ShardLayout::width) {
    columns = rules.columns > 0 ? rules.columns : part_of(wide, rules);
    grid = grid_for(ceil_div(wide, columns));
  } else if (layout == ShardLayout::height) {
    rows = rules.rows > 0 ? rules.rows : ceil_div(high, std::min(rules.cores, high));
    grid = grid_for(ceil_div(high, rows));
  } else {
    rows = rules.rows > 0 ? rules.rows : high / even_parts(high, kColumns, 1);
    columns = rules.columns > 0 ? rules.columns
                                : wide / even_parts(wide, rules.across,
                                                    std::max<std::int64_t>(1, rules.column_step));
    grid = {static_cast<int>(ceil_div(wide, columns)), static_cast<int>(ceil_div(high, rows))};
  }
  return {.layout = layout, .grid = grid, .rows = rows * side, .columns = columns * side};
}

Sharding on_banks(const TensorSpec& spec, std::int64_t banks) {
  return shards_on(spec, {.layout = ShardLayout::width, .grid = {static_cast<int>(banks), 1}},
                   banks);
}

/// Returns the shards of whole tiles that a text like "ShardSpec(grid={[(x=0;y=0) -
/// (x=7;y=3)]};shape={32; 64};orientation=ShardOrientation::ROW_MAJOR)" tells.
std::optional<Sharding> read_shards(std::string_view text, const TensorSpec& spec,
                                    ShardLayout layout) {
  const std::size_t begin = text.find("ShardSpec(");
  if (begin == std::string_view::npos) return std::nullopt;
  text = text.substr(begin);
  const auto grid = grid_of(text.substr(text.find("grid=") + 5));
  // The sides of those of many dimensions are "shard_shape=Shape([32; 64])".
  const std::size_t shape = text.find("shape=");
  if (!grid || shape == std::string_view::npos) return std::nullopt;
  const std::vector<std::int64_t> sides = leading_numbers(text.substr(shape + 6));
  if (sides.size() < 2 || sides[sides.size() - 2] < 1 || sides.back() < 1) return std::nullopt;
  const auto [high, wide, side] = cut_of(spec);
  Sharding shards{.layout = layout,
                  .grid = *grid,
                  .rows = ceil_div(sides[sides.size() - 2], side) * side,
                  .columns = ceil_div(sides.back(), side) * side,
                  .column_major = text.find("COL_MAJOR") != text.npos};
  if (layout == ShardLayout::height) shards.columns = wide * side;
  if (layout == ShardLayout::width) shards.rows = high * side;
  return shards;
}

/// Returns the shards of the result that the call's memory configuration tells.
std::optional<Sharding> told_shards(const Call& call, const TensorSpec& spec, ShardLayout layout) {
  for (const std::string_view name :
       {"output_mem_config", "output_memory_config", "memory_config", "output_mem_cfg",
        "memory_config_", "output_memory_config_", "mem_config", "shard_spec"}) {
    const auto text = call.attributes.find(name);
    if (!text) continue;
    if (auto shards = read_shards(*text, spec, layout)) return shards;
  }
  return std::nullopt;
}

/// Returns the configuration that a product was given; absent for another op.
std::optional<MatmulConfig> config_of_product(const Call& call) {
  const auto text = call.attributes.find(kConfig);
  if (!text || chip::stem_of(call.code) != MatmulAttributes::kTtnn) return std::nullopt;
  return parse_ttnn_config(*text);
}

/// Returns what the program configurations of norms and of softmax tell: a core's block.
ShardRules block_of(const Call& call) {
  const auto cores = call.cores();
  return {.cores = cores.value_or(64),
          .rows = field(call.attributes, "block_h", 0),
          .columns = field(call.attributes, "block_w", 0),
          .all_cores = cores.has_value()};
}

}  // namespace

std::vector<std::int64_t> leading_numbers(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  std::vector<std::int64_t> numbers;
  text = text.substr(text.starts_with("Shape") ? 5 : 0);
  text = text.substr(
      0, static_cast<std::size_t>(std::ranges::find_if(text, is_letter) - text.begin()));
  while (!text.empty()) {
    const std::size_t begin = text.find_first_of("0123456789");
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.size(), text.find_first_not_of("0123456789"));
    constexpr std::int64_t kMost = 1'000'000'000;
    const auto number = parse_integer(text.substr(0, end));
    if (!number || *number > kMost) break;
    numbers.push_back(*number);
    text.remove_prefix(end);
  }
  return numbers;
}

std::optional<ShardLayout> layout_of(std::string_view memory) {
  if (memory.ends_with("HEIGHT_SHARDED")) return ShardLayout::height;
  if (memory.ends_with("WIDTH_SHARDED")) return ShardLayout::width;
  if (memory.ends_with("BLOCK_SHARDED")) return ShardLayout::block;
  return std::nullopt;
}

std::optional<Sharding> output_shards(const Call& call, const TensorSpec& spec) {
  const auto layout = layout_of(call.out_cells().memory);
  if (!layout) return std::nullopt;
  if (spec.storage == Storage::dram) return on_banks(spec, call.banks());
  if (auto told = told_shards(call, spec, *layout)) return told;
  const auto config = config_of_product(call);
  if (!config) return usual_shards(spec, *layout, block_of(call));
  return usual_shards(spec, *layout, {.rows = config->per_core_m, .columns = config->per_core_n});
}

std::optional<Sharding> input_shards(const Call& call, std::size_t i, const TensorSpec& spec) {
  const auto layout = layout_of(call.cells(i).memory);
  if (!layout) return std::nullopt;
  if (spec.storage == Storage::dram) return on_banks(spec, call.banks());
  const auto config = config_of_product(call);
  if (config && i == 0) {
    return usual_shards(
        spec, *layout,
        {.rows = config->per_core_m,
         .column_step = config->in0_block_w,
         .across = config->kind == MatmulKind::multicast_2d ? config->grid.columns : kColumns});
  }
  const bool moves = chip::stem_of(call.code) == "Reshard";
  const std::optional<Sharding>& result = call.out().sharding;
  const bool on_same = result && result->layout == *layout && call.out().storage == Storage::l1;
  if (on_same && !moves) {
    const bool alike = spec.shape == call.out().shape && spec.layout == call.out().layout;
    // A grid may have more cores than there are shards.
    return alike ? *result : shards_on(spec, *result, shards_of(call.out()));
  }
  ShardRules rules = block_of(call);
  // The cores that run a move between shards are those of its result, or else of its operand.
  if (moves && result && result->grid.cores() == rules.cores) rules = {};
  return usual_shards(spec, *layout, rules);
}

}  // namespace howard::profiler::logged
