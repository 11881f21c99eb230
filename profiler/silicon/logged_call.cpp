// SPDX-License-Identifier: Apache-2.0
#include "profiler/silicon/logged_call.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace howard::profiler::logged {
namespace {

/// Returns the logical size.
std::int64_t dimension_of(std::string_view cell) {
  const auto side = parse_side(cell);
  if (!side) refuse(fmt::format("a dimension '{}'", cell), "32[19] or 32");
  return side->logical;
}

TensorSpec spec_of(const TensorCells& cells) {
  std::array<std::int64_t, 4> sides{};
  for (std::size_t i = 0; i < sides.size(); ++i) {
    sides[i] = cells.dimensions[i].empty() ? 1 : dimension_of(cells.dimensions[i]);
  }
  const bool dram = cells.memory.empty() || cells.memory.ends_with("_DRAM_INTERLEAVED");
  const bool l1 = cells.memory.ends_with("_L1_INTERLEAVED");
  if (!dram && !l1) {
    const bool sharded = cells.memory.ends_with("_SHARDED");
    refuse(fmt::format("{} is {}", cells.memory,
                       sharded ? "sharded" : "storage that the emulator does not have"),
           "tensors interleaved over DRAM or L1");
  }
  const bool rows = cells.layout.starts_with("ROW_MAJOR");
  if (!rows && cells.layout != "TILE") {
    refuse(fmt::format("layout '{}'", cells.layout), "TILE, ROW_MAJOR");
  }
  return {.shape = {sides[0], sides[1], sides[2], sides[3]},
          .dtype = parse_data_type(lower_case(cells.datatype)),
          .layout = rows ? Layout::row_major : Layout::tile,
          .storage = dram ? Storage::dram : Storage::l1};
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
  for (const TensorCells& cells : row.inputs) inputs_.push_back(spec_of(cells));
  for (const TensorCells& cells : row.outputs) outputs_.push_back(spec_of(cells));
  if (outputs_.empty()) refuse("no output", "OUTPUT_0_X and its other columns");
}

const TensorSpec& Call::in(std::size_t i) const {
  if (i >= inputs_.size()) refuse(fmt::format("{} inputs", inputs_.size()), "more of them");
  return inputs_[i];
}

}  // namespace howard::profiler::logged
