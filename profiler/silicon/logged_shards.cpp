// SPDX-License-Identifier: Apache-2.0
#include "profiler/silicon/logged_shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/text.h"
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

bool flag(const OpAttributes& attributes, std::string_view name, bool otherwise) {
  const auto text = attributes.member(kConfig, name);
  return text ? *text == "1" || *text == "true" : otherwise;
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

/// Returns the grid that holds all ranges of a text.
std::optional<CoreGrid> grid_of(std::string_view text) {
  const std::vector<std::int64_t> x = numbers_behind(text, "x="), y = numbers_behind(text, "y=");
  if (x.empty() || y.empty()) return std::nullopt;
  const auto [left, right] = std::ranges::minmax(x);
  const auto [top, bottom] = std::ranges::minmax(y);
  return CoreGrid{static_cast<int>(right - left + 1), static_cast<int>(bottom - top + 1)};
}

std::optional<MatmulKind> kind_of(std::string_view config, bool mcast_in0) {
  if (config.find("DRAMSharded") != config.npos) return MatmulKind::dram_sharded;
  if (config.find("MultiCast1D") != config.npos) {
    return mcast_in0 ? MatmulKind::multicast_1d_in0 : MatmulKind::multicast_1d_in1;
  }
  if (config.find("ReuseMultiCast") != config.npos) return MatmulKind::multicast_2d;
  if (config.find("MatmulMultiCoreReuse") != config.npos) return MatmulKind::reuse;
  if (config.find("MatmulMultiCoreProgramConfig") != config.npos) return MatmulKind::multi_core;
  return std::nullopt;
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

}  // namespace

std::optional<MatmulConfig> matmul_config(const OpAttributes& attributes) {
  const auto text = attributes.find(kConfig);
  if (!text) return std::nullopt;
  const std::string_view name = text->substr(0, text->find('('));
  const auto kind = kind_of(name, flag(attributes, "mcast_in0", true));
  if (!kind) refuse(fmt::format("program_config {}", name), "the configurations of ttnn.matmul");
  MatmulConfig config{.kind = *kind,
                      .grid = {1, 1},  // unless it has one
                      .per_core_m = field(attributes, "per_core_M", 1),
                      .per_core_n = field(attributes, "per_core_N", 1),
                      .in0_block_w = field(attributes, "in0_block_w", 1)};
  if (*kind == MatmulKind::multi_core || *kind == MatmulKind::dram_sharded) return config;
  constexpr std::string_view kGrid = "compute_with_storage_grid_size=(x=";
  const std::vector<std::int64_t> x = numbers_behind(*text, kGrid);
  const std::vector<std::int64_t> y =
      numbers_behind(text->substr(std::min(text->size(), text->find(kGrid))), ";y=");
  constexpr std::int64_t kMostSide = 64;
  if (x.empty() || y.empty() || x[0] < 1 || y[0] < 1 || x[0] > kMostSide || y[0] > kMostSide) {
    refuse("a program_config without a grid", "compute_with_storage_grid_size=(x=8;y=8)");
  }
  config.grid = {static_cast<int>(x[0]), static_cast<int>(y[0])};
  config.out_block_h = field(attributes, "out_block_h", config.per_core_m);
  config.out_block_w = field(attributes, "out_block_w", config.per_core_n);
  config.subblock_h = field(attributes, "out_subblock_h", 1);
  config.subblock_w = field(attributes, "out_subblock_w", 1);
  config.transpose_mcast = flag(attributes, "transpose_mcast", false);
  config.fuse_batch = flag(attributes, "fuse_batch", *kind != MatmulKind::reuse);
  config.gather_in0 = flag(attributes, "gather_in0", false);
  return config;
}

std::string_view config_activation(const OpAttributes& attributes) {
  const std::string_view text = attributes.find(kConfig).value_or("");
  constexpr std::string_view kKey = "fused_activation=";
  const std::size_t at = text.find(kKey);
  if (at == std::string_view::npos) return "";
  const std::string_view rest = text.substr(at + kKey.size());
  return rest.starts_with("std::nullopt") ? std::string_view() : rest;
}

std::optional<Sharding> told_shards(const OpAttributes& attributes, ShardLayout layout) {
  for (const std::string_view name :
       {"output_mem_config", "output_memory_config", "memory_config", "output_mem_cfg"}) {
    const std::string_view text = attributes.find(name).value_or("");
    const std::size_t spec = text.find("ShardSpec(");
    if (spec == std::string_view::npos) continue;
    const std::size_t shape = text.find("shape={", spec);
    if (shape == std::string_view::npos) continue;
    const auto grid = grid_of(text.substr(spec, shape - spec));
    const std::string_view sides = text.substr(shape + 7, text.find('}', shape) - shape - 7);
    const std::vector<std::string> parts = split(sides, ';');
    if (!grid || parts.size() != 2) continue;
    const auto rows = parse_integer(trimmed(parts[0])), columns = parse_integer(trimmed(parts[1]));
    if (!rows || !columns || *rows < 1 || *columns < 1) continue;
    return Sharding{.layout = layout,
                    .grid = *grid,
                    .rows = *rows,
                    .columns = *columns,
                    .column_major = text.find("COL_MAJOR") != text.npos};
  }
  return std::nullopt;
}

Sharding usual_shards(const TensorSpec& spec, ShardLayout layout, const ShardRules& rules) {
  const std::int64_t high = spec.shape.batch() * spec.shape.tile_rows();
  const std::int64_t wide = spec.shape.tile_columns();
  std::int64_t rows = high, columns = wide;
  CoreGrid grid{1, 1};
  if (spec.storage == Storage::dram) {
    columns = ceil_div(wide, rules.banks);
    grid = {static_cast<int>(rules.banks), 1};
  } else if (layout == ShardLayout::width) {
    columns = rules.columns > 0 ? rules.columns
                                : wide / even_parts(wide, rules.cores,
                                                    std::max<std::int64_t>(1, rules.column_step));
    grid = grid_for(ceil_div(wide, columns));
  } else if (layout == ShardLayout::height) {
    rows = rules.rows > 0 ? rules.rows : ceil_div(high, std::min(rules.cores, high));
    grid = grid_for(ceil_div(high, rows));
  } else {
    rows = rules.rows > 0 ? rules.rows : high / even_parts(high, kColumns, 1);
    columns = rules.columns > 0
                  ? rules.columns
                  : wide / even_parts(wide, kColumns, std::max<std::int64_t>(1, rules.column_step));
    grid = {static_cast<int>(ceil_div(wide, columns)), static_cast<int>(ceil_div(high, rows))};
  }
  return {.layout = layout, .grid = grid, .rows = rows * kTileSide, .columns = columns * kTileSide};
}

}  // namespace howard::profiler::logged
