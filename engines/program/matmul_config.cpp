// SPDX-License-Identifier: Apache-2.0
#include "engines/program/matmul_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "engines/program/tensor_spec.h"

namespace howard {
namespace {

constexpr std::string_view kExample =
    "2d:grid=8x7:per_core=20x16:in0_block_w=8:out_block=10x8:out_subblock=2x4";

/// The words of a text, in the order of MatmulKind.
constexpr std::array<std::string_view, 6> kKindWords{"2d",    "1d_in0",     "1d_in1",
                                                     "reuse", "multi_core", "dram_sharded"};

/// Says whether a configuration of the kind has a grid, blocks and sub-blocks.
bool has_grid(MatmulKind kind) {
  return kind != MatmulKind::multi_core && kind != MatmulKind::dram_sharded;
}

[[noreturn]] void reject_config(std::string_view text, std::string value, std::string accepted) {
  throw Error({.attempted = fmt::format("read the matmul configuration '{}'", text),
               .value = std::move(value),
               .accepted = std::move(accepted),
               .hint = std::string(kExample)});
}

/// Reads the parts of one text and remembers which ones it has seen.
class ConfigReader {
 public:
  explicit ConfigReader(std::string_view text) : text_(text) {}

  MatmulConfig read() {
    const std::size_t at = text_.find('@');
    if (at != std::string_view::npos) config_.only = product_size(text_.substr(0, at));
    const std::vector<std::string> parts =
        split(at == std::string_view::npos ? text_ : text_.substr(at + 1), ':');
    config_.kind = kind(parts.front());
    for (std::size_t i = 1; i < parts.size(); ++i) read_part(parts[i]);
    if (config_.kind == MatmulKind::multi_core) return config_;
    for (const std::string_view part : {"grid", "per_core", "in0_block_w"}) {
      if (part == "grid" && !has_grid(config_.kind)) continue;
      if (!seen_.contains(part)) reject_config(text_, fmt::format("it has no {}", part), "");
    }
    if (!seen_.contains("out_block")) {
      config_.out_block_h = config_.per_core_m;
      config_.out_block_w = config_.per_core_n;
    }
    if (!seen_.contains("out_subblock")) {
      constexpr std::int64_t kMostTiles = 8;
      std::tie(config_.subblock_h, config_.subblock_w) =
          preferred_subblock(config_.out_block_h, config_.out_block_w, kMostTiles);
    }
    return config_;
  }

 private:
  MatmulKind kind(std::string_view name) const {
    const std::string word = lower_case(name);
    const auto found = std::ranges::find(kKindWords, word);
    if (found != kKindWords.end()) return static_cast<MatmulKind>(found - kKindWords.begin());
    reject_config(text_, fmt::format("there is no kind '{}'", word),
                  fmt::format("{}", fmt::join(kKindWords, ", ")));
  }

  void read_part(const std::string& part) {
    const std::size_t equals = part.find('=');
    const std::string name = part.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : part.substr(equals + 1);
    if (!seen_.insert(name).second) reject_config(text_, fmt::format("{} stands twice", name), "");
    if (name == "grid") {
      const auto [columns, rows] = pair(name, value);
      config_.grid = {static_cast<int>(columns), static_cast<int>(rows)};
    } else if (name == "per_core") {
      std::tie(config_.per_core_m, config_.per_core_n) = pair(name, value);
    } else if (name == "out_block") {
      std::tie(config_.out_block_h, config_.out_block_w) = pair(name, value);
    } else if (name == "out_subblock") {
      std::tie(config_.subblock_h, config_.subblock_w) = pair(name, value);
    } else if (name == "in0_block_w") {
      config_.in0_block_w = size(name, value);
    } else if (name == "transpose_mcast") {
      config_.transpose_mcast = flag(name, value);
    } else if (name == "fuse_batch") {
      config_.fuse_batch = flag(name, value);
    } else if (name == "gather_in0") {
      config_.gather_in0 = flag(name, value);
    } else {
      reject_config(text_, fmt::format("it has no part '{}'", name),
                    "grid, per_core, in0_block_w, out_block, out_subblock, transpose_mcast, "
                    "fuse_batch, gather_in0");
    }
  }

  std::int64_t size(std::string_view name, std::string_view value) const {
    constexpr std::int64_t kMost = 65536;
    const auto number = parse_integer(value);
    if (number && *number >= 1 && *number <= kMost) return *number;
    reject_config(text_, fmt::format("{} is '{}'", name, value), "whole numbers from 1 to 65536");
  }

  /// Reads "1024x512x2048": M, K and N in elements.
  MatmulSize product_size(std::string_view value) const {
    constexpr std::int64_t kMost = 1 << 20;
    std::vector<std::int64_t> tiles;
    for (const std::string& part : split(value, 'x')) {
      const auto number = parse_integer(part);
      if (number && *number >= 1 && *number <= kMost) {
        tiles.push_back(ceil_div(*number, kTileSide));
      }
    }
    if (tiles.size() == 3) return {tiles[0], tiles[1], tiles[2]};
    reject_config(text_, fmt::format("the product's size is '{}'", value), "MxKxN@ in elements");
  }

  std::pair<std::int64_t, std::int64_t> pair(std::string_view name, std::string_view value) const {
    const std::vector<std::string> sizes = split(value, 'x');
    if (sizes.size() != 2) {
      reject_config(text_, fmt::format("{} is '{}'", name, value), "two sizes: 8x7");
    }
    return {size(name, sizes[0]), size(name, sizes[1])};
  }

  bool flag(std::string_view name, std::string_view value) const {
    if (value == "yes") return true;
    if (value == "no") return false;
    reject_config(text_, fmt::format("{} is '{}'", name, value), "yes, no");
  }

  std::string_view text_;
  MatmulConfig config_;
  std::set<std::string, std::less<>> seen_;
};

/// Holds ttnn's order of preference: the destination registers hold 8 tiles in bf16.
constexpr std::array<std::pair<std::int64_t, std::int64_t>, 20> kPreferredSubblocks{
    {{4, 2}, {2, 4}, {8, 1}, {1, 8}, {7, 1}, {1, 7}, {3, 2}, {2, 3}, {6, 1}, {1, 6},
     {5, 1}, {1, 5}, {2, 2}, {4, 1}, {1, 4}, {3, 1}, {1, 3}, {2, 1}, {1, 2}, {1, 1}}};

std::string_view python_flag(bool value) { return value ? "True" : "False"; }

/// Returns ttnn's UnaryOpType of a function that a product can apply to its result.
std::string python_activation(std::optional<Eltwise> activation) {
  if (!activation) return "None";
  std::string name(name_of(*activation));
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (*activation == Eltwise::reciprocal) name = "RECIP";
  if (*activation == Eltwise::gelu) name = "GELU, False";
  if (*activation == Eltwise::gelu_approx) name = "GELU, True";
  return fmt::format("ttnn.UnaryWithParam(ttnn.UnaryOpType.{})", name);
}

std::string_view python_class(MatmulKind kind) {
  switch (kind) {
    case MatmulKind::multicast_2d:
      return "MatmulMultiCoreReuseMultiCastProgramConfig";
    case MatmulKind::multicast_1d_in0:
    case MatmulKind::multicast_1d_in1:
      return "MatmulMultiCoreReuseMultiCast1DProgramConfig";
    case MatmulKind::reuse:
      return "MatmulMultiCoreReuseProgramConfig";
    case MatmulKind::dram_sharded:
      return "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig";
    case MatmulKind::multi_core:
      break;
  }
  return "MatmulMultiCoreProgramConfig";
}

}  // namespace

std::string_view name_of(MatmulKind kind) {
  constexpr std::array<std::string_view, 6> kNames{"2D",    "1D in0",     "1D in1",
                                                   "reuse", "multi-core", "DRAM-sharded"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::pair<std::int64_t, std::int64_t> preferred_subblock(std::int64_t h, std::int64_t w,
                                                         std::int64_t most_tiles) {
  for (const auto& [first, second] : kPreferredSubblocks) {
    if (first * second <= most_tiles && h % first == 0 && w % second == 0) return {first, second};
  }
  return {1, 1};
}

std::string text_of(const MatmulConfig& config) {
  std::string text;
  if (config.only) {
    text = fmt::format("{}x{}x{}@", kTileSide * config.only->m, kTileSide * config.only->k,
                       kTileSide * config.only->n);
  }
  text += kKindWords.at(static_cast<std::size_t>(config.kind));
  if (config.kind == MatmulKind::multi_core) return text;
  if (has_grid(config.kind)) {
    text += fmt::format(":grid={}x{}", config.grid.columns, config.grid.rows);
  }
  text += fmt::format(":per_core={}x{}:in0_block_w={}", config.per_core_m, config.per_core_n,
                      config.in0_block_w);
  if (!has_grid(config.kind)) return text;
  if (config.out_block_h != config.per_core_m || config.out_block_w != config.per_core_n) {
    text += fmt::format(":out_block={}x{}", config.out_block_h, config.out_block_w);
  }
  text += fmt::format(":out_subblock={}x{}", config.subblock_h, config.subblock_w);
  if (config.transpose_mcast) text += ":transpose_mcast=yes";
  if (!config.fuse_batch) text += ":fuse_batch=no";
  if (config.gather_in0) text += ":gather_in0=yes";
  return text;
}

MatmulConfig parse_matmul_config(std::string_view text) { return ConfigReader(text).read(); }

std::string python_text(const MatmulConfig& config, std::optional<Eltwise> activation) {
  std::string text = fmt::format("ttnn.{}(", python_class(config.kind));
  const auto field = [&](std::string_view name, const auto& value) {
    text += fmt::format("\n    {}={},", name, value);
  };
  if (config.kind == MatmulKind::multi_core) return text + ")";
  if (config.kind == MatmulKind::dram_sharded) {
    field("in0_block_w", config.in0_block_w);
    field("per_core_M", config.per_core_m);
    field("per_core_N", config.per_core_n);
    field("fused_activation", python_activation(activation));
    return text + "\n)";
  }
  field("compute_with_storage_grid_size",
        fmt::format("ttnn.CoreCoord({}, {})", config.grid.columns, config.grid.rows));
  field("in0_block_w", config.in0_block_w);
  field("out_subblock_h", config.subblock_h);
  field("out_subblock_w", config.subblock_w);
  if (config.kind != MatmulKind::reuse) {
    field("out_block_h", config.out_block_h);
    field("out_block_w", config.out_block_w);
  }
  field("per_core_M", config.per_core_m);
  field("per_core_N", config.per_core_n);
  if (config.kind == MatmulKind::multicast_2d) {
    field("transpose_mcast", python_flag(config.transpose_mcast));
  }
  if (config.kind != MatmulKind::reuse) {
    field("fused_activation", python_activation(activation));
    field("fuse_batch", python_flag(config.fuse_batch));
  }
  if (config.kind == MatmulKind::multicast_1d_in0 || config.kind == MatmulKind::multicast_1d_in1) {
    if (config.gather_in0) field("gather_in0", "True");
    field("mcast_in0", python_flag(config.kind == MatmulKind::multicast_1d_in0));
  }
  return text + "\n)";
}

}  // namespace howard
