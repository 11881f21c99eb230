// SPDX-License-Identifier: Apache-2.0
#include "profiler/silicon/logged_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "engines/chip/kernels/ttnn_names.h"
#include "profiler/silicon/logged_shards.h"

namespace howard::profiler::logged {
namespace {

/// Returns the logical size.
std::int64_t dimension_of(std::string_view cell) {
  const auto side = parse_side(cell);
  if (!side) refuse(fmt::format("a dimension '{}'", cell), "32[19] or 32");
  return side->logical;
}

std::optional<ShardLayout> layout_of(std::string_view memory) {
  if (memory.ends_with("_HEIGHT_SHARDED")) return ShardLayout::height;
  if (memory.ends_with("_WIDTH_SHARDED")) return ShardLayout::width;
  if (memory.ends_with("_BLOCK_SHARDED")) return ShardLayout::block;
  return std::nullopt;
}

/// Says whether the emulator's kernel of an op reads and writes shards where they are.
bool takes_shards(std::string_view code) {
  constexpr std::array<std::string_view, 8> kStems{"Matmul",
                                                   "BinaryNg",
                                                   "Unary",
                                                   "Ternary",
                                                   "Typecast",
                                                   "InterleavedToSharded",
                                                   "ShardedToInterleaved",
                                                   "Reshard"};
  return std::ranges::find(kStems, chip::stem_of(code)) != kStems.end();
}

/// Returns the tensor, as if its shards, if it has any, were those of ttnn's users.
TensorSpec spec_of(const TensorCells& cells, bool takes, const ShardRules& rules) {
  std::array<std::int64_t, 4> sides{};
  for (std::size_t i = 0; i < sides.size(); ++i) {
    sides[i] = cells.dimensions[i].empty() ? 1 : dimension_of(cells.dimensions[i]);
  }
  const auto shards = layout_of(cells.memory);
  const bool dram = cells.memory.empty() || cells.memory.ends_with("_DRAM_INTERLEAVED") ||
                    (shards && cells.memory.find("_DRAM_") != std::string_view::npos);
  const bool l1 = cells.memory.ends_with("_L1_INTERLEAVED") || (shards && !dram);
  if ((!dram && !l1) || (shards && !takes)) {
    refuse(fmt::format("{} is {}", cells.memory,
                       shards ? "sharded" : "storage that the emulator does not have"),
           "tensors interleaved over DRAM or L1");
  }
  const bool rows = cells.layout.starts_with("ROW_MAJOR");
  if (!rows && cells.layout != "TILE") {
    refuse(fmt::format("layout '{}'", cells.layout), "TILE, ROW_MAJOR");
  }
  TensorSpec spec{.shape = {sides[0], sides[1], sides[2], sides[3]},
                  .dtype = parse_data_type(lower_case(cells.datatype)),
                  .layout = rows ? Layout::row_major : Layout::tile,
                  .storage = dram ? Storage::dram : Storage::l1};
  if (shards) spec.sharding = usual_shards(spec, *shards, rules);
  return spec;
}

/// Returns what the call's configuration and its cores say of its shards.
ShardRules rules_of(const OpRow& row) {
  constexpr std::int64_t kMostCores = 140;
  ShardRules rules;
  if (row.cores) rules.cores = std::clamp<std::int64_t>(*row.cores, 1, kMostCores);
  if (row.architecture == "blackhole") rules.banks = 8;
  return rules;
}

}  // namespace

void refuse(std::string value, std::string accepted) {
  throw Error(
      {.attempted = "emulate it", .value = std::move(value), .accepted = std::move(accepted)});
}

std::optional<Side> parse_side(std::string_view cell) {
  const std::size_t bracket = cell.find('[');
  const auto padded = parse_integer(cell.substr(0, bracket));
  auto logical = padded;
  if (bracket != std::string_view::npos && cell.ends_with(']')) {
    logical = parse_integer(cell.substr(bracket + 1, cell.size() - bracket - 2));
  }
  if (!padded || !logical) return std::nullopt;
  return Side{*padded, *logical};
}

std::string_view enumerator(std::string_view text) {
  const std::size_t colons = text.rfind("::");
  const std::string_view rest = colons == std::string_view::npos ? text : text.substr(colons + 2);
  return rest.substr(0, rest.find_first_of(";,)} "));
}

Call::Call(const OpRow& row, Device& device)
    : code(row.name), attributes(row.attributes), fidelity(row.fidelity), device_(device) {
  const ShardRules plain = rules_of(row);
  ShardRules first = plain, result = plain;
  bool configured = false;
  const bool product = chip::stem_of(code) == chip::operation::kMatmul;
  if (const auto config = product ? matmul_config(attributes) : std::nullopt) {
    configured = true;
    constexpr std::int64_t kMostCores = 64;
    first = {.cores = kMostCores,
             .rows = config->per_core_m,
             .column_step = config->in0_block_w,
             .banks = plain.banks};
    result = {.cores = kMostCores,
              .rows = config->per_core_m,
              .columns = config->per_core_n,
              .banks = plain.banks};
  }
  // Without a configuration ttnn takes one from the shards, which the emulator does not know.
  const bool takes = takes_shards(code) && (!product || configured);
  for (const TensorCells& cells : row.outputs) {
    TensorSpec spec = spec_of(cells, takes, result);
    const auto layout = layout_of(cells.memory);
    if (auto told = layout ? told_shards(attributes, *layout) : std::nullopt) spec.sharding = told;
    outputs_.push_back(std::move(spec));
  }
  for (const TensorCells& cells : row.inputs) {
    TensorSpec spec = spec_of(cells, takes, inputs_.empty() ? first : plain);
    const bool alike = !outputs_.empty() && !product && spec.sharding &&
                       outputs_.front().sharding && spec.shape == outputs_.front().shape &&
                       spec.sharding->layout == outputs_.front().sharding->layout;
    if (alike && chip::stem_of(code) != "Reshard") spec.sharding = outputs_.front().sharding;
    inputs_.push_back(std::move(spec));
  }
  if (outputs_.empty()) refuse("no output", "OUTPUT_0_X and its other columns");
}

const TensorSpec& Call::in(std::size_t i) const {
  if (i >= inputs_.size()) refuse(fmt::format("{} inputs", inputs_.size()), "more of them");
  return inputs_[i];
}

}  // namespace howard::profiler::logged
