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
#include "engines/program/op_attributes.h"
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

std::string_view mlir_class(MatmulKind kind) {
  switch (kind) {
    case MatmulKind::multicast_2d:
      return "matmul_multi_core_reuse_multi_cast_program_config";
    case MatmulKind::multicast_1d_in0:
    case MatmulKind::multicast_1d_in1:
      return "matmul_multi_core_reuse_multi_cast_1d_program_config";
    case MatmulKind::reuse:
      return "matmul_multi_core_reuse_program_config";
    case MatmulKind::dram_sharded:
      return "matmul_multi_core_reuse_multi_cast_dram_sharded_program_config";
    case MatmulKind::multi_core:
      break;
  }
  return "";
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

namespace {

/// Stands for the function that a configuration applies, which is not its own.
struct Fused {};

/// Calls `visit` with the name and the value of each field that ttnn's class has.
template <class Config, class Visit>
void visit_fields(Config& config, bool& mcast_in0, const Visit& visit) {
  const MatmulKind kind = config.kind;
  if (kind == MatmulKind::multi_core) return;
  if (has_grid(kind)) visit("compute_with_storage_grid_size", config.grid);
  visit("in0_block_w", config.in0_block_w);
  const bool multicasts = has_grid(kind) && kind != MatmulKind::reuse;
  if (has_grid(kind)) {
    visit("out_subblock_h", config.subblock_h);
    visit("out_subblock_w", config.subblock_w);
  }
  if (multicasts) {
    visit("out_block_h", config.out_block_h);
    visit("out_block_w", config.out_block_w);
  }
  visit("per_core_M", config.per_core_m);
  visit("per_core_N", config.per_core_n);
  if (kind == MatmulKind::multicast_2d) visit("transpose_mcast", config.transpose_mcast);
  if (kind != MatmulKind::reuse) visit("fused_activation", Fused{});
  if (multicasts) visit("fuse_batch", config.fuse_batch);
  if (multicasts && kind != MatmulKind::multicast_2d) {
    visit("gather_in0", config.gather_in0);
    visit("mcast_in0", mcast_in0);
  }
}

/// Says how the parts of a configuration are written.
struct Notation {
  std::string_view type, begin, end;  ///< Before the class, and around each field.
  std::string_view grid, yes, no;
};
constexpr Notation kPython{"ttnn.", "\n    ", ",", "ttnn.CoreCoord({}, {})", "True", "False"};
constexpr Notation kLogged{"", "", ";", "(x={};y={})", "1", "0"};

std::string text_of(const MatmulConfig& config, const Notation& in, std::string_view activation) {
  std::string text = fmt::format("{}{}(", in.type, python_class(config.kind));
  bool mcast_in0 = config.kind == MatmulKind::multicast_1d_in0;
  visit_fields(config, mcast_in0, [&]<class Value>(std::string_view name, const Value& value) {
    if (name == "gather_in0" && !config.gather_in0) return;
    text += fmt::format("{}{}=", in.begin, name);
    if constexpr (std::is_same_v<Value, CoreGrid>) {
      text += fmt::format(fmt::runtime(in.grid), value.columns, value.rows);
    } else if constexpr (std::is_same_v<Value, Fused>) {
      text += activation;
    } else if constexpr (std::is_same_v<Value, bool>) {
      text += value ? in.yes : in.no;
    } else {
      text += fmt::to_string(value);
    }
    text += in.end;
  });
  return text;
}

}  // namespace

std::string python_text(const MatmulConfig& config, std::optional<Eltwise> activation) {
  const std::string text = text_of(config, kPython, python_activation(activation));
  return text + (config.kind == MatmulKind::multi_core ? ")" : "\n)");
}

std::string mlir_text(const MatmulConfig& config, std::optional<Eltwise> activation) {
  if (config.kind == MatmulKind::multi_core) return "";
  std::string members;
  bool mcast_in0 = config.kind == MatmulKind::multicast_1d_in0;
  visit_fields(config, mcast_in0, [&]<class Value>(std::string_view name, const Value& value) {
    std::string text;
    if constexpr (std::is_same_v<Value, CoreGrid>) {
      text = fmt::format("#ttnn.core_coord<{}, {}>", value.columns, value.rows);
    } else if constexpr (std::is_same_v<Value, Fused>) {
      if (!activation) return;
      text = fmt::format("#ttnn.unary_with_param<op_type = {}>", name_of(*activation));
    } else {
      text = fmt::format("{}", value);
    }
    std::string small(name);
    std::ranges::transform(small, small.begin(), [](unsigned char c) { return std::tolower(c); });
    members += fmt::format("{}{} = {}", members.empty() ? "" : ", ", small, text);
  });
  return fmt::format("#ttnn.{}<{}>", mlir_class(config.kind), members);
}

std::string ttnn_text(const MatmulConfig& config, std::string_view fused_activation) {
  std::string text = text_of(config, kLogged, fused_activation);
  if (text.ends_with(';')) text.pop_back();
  return text + ")";
}

MatmulConfig parse_ttnn_config(std::string_view text) {
  const auto refuse = [](std::string value, std::string accepted) {
    throw Error({.attempted = "read its program_config",
                 .value = std::move(value),
                 .accepted = std::move(accepted)});
  };
  const std::string_view name = text.substr(0, text.find('('));
  const auto is = [&](std::string_view word) { return name.find(word) != name.npos; };
  const auto told = [&](std::string_view field) { return ttnn_member(text, field); };
  const auto flag = [](std::string_view value) { return value == "1" || value == "true"; };
  bool mcast_in0 = flag(told("mcast_in0").value_or("1"));
  MatmulConfig config;
  // The names of some classes begin with those of others.
  if (is("DRAMSharded")) {
    config.kind = MatmulKind::dram_sharded;
  } else if (is("MultiCast1D")) {
    config.kind = mcast_in0 ? MatmulKind::multicast_1d_in0 : MatmulKind::multicast_1d_in1;
  } else if (is("ReuseMultiCast")) {
    config.kind = MatmulKind::multicast_2d;
  } else if (is("MatmulMultiCoreReuse")) {
    config.kind = MatmulKind::reuse;
  } else if (is("MatmulMultiCoreProgramConfig")) {
    config.kind = MatmulKind::multi_core;
  } else {
    refuse(fmt::format("program_config {}", name), "the configurations of ttnn.matmul");
  }
  const auto read = [&]<class Value>(std::string_view field, Value&& value) {
    const std::string_view word = told(field).value_or("");
    if constexpr (std::is_same_v<Value, CoreGrid&>) {
      const auto grid = parse_ttnn_grid(word);
      if (!grid) {
        refuse("a program_config without a grid", "compute_with_storage_grid_size=(x=8;y=8)");
      }
      value = *grid;
    } else if constexpr (std::is_same_v<Value, bool&>) {
      if (!word.empty()) value = flag(word);
    } else if constexpr (std::is_same_v<Value, std::int64_t&>) {
      constexpr std::int64_t kMost = 65'536;
      const auto number = parse_integer(word.empty() ? "1" : word);
      if (!number || *number < 1 || *number > kMost) {
        refuse(fmt::format("{}={}", field, word), "1 to 65536 tiles");
      }
      value = *number;
    }
  };
  visit_fields(config, mcast_in0, read);
  if (!told("out_block_h")) config.out_block_h = config.per_core_m;
  if (!told("out_block_w")) config.out_block_w = config.per_core_n;
  return config;
}

}  // namespace howard
