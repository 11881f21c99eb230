// SPDX-License-Identifier: Apache-2.0
#include "profiler/silicon/logged_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "profiler/silicon/logged_shards.h"

namespace howard::profiler::logged {
namespace {

/// Returns the logical size.
std::int64_t dimension_of(std::string_view cell) {
  const auto side = parse_side(cell);
  if (!side) refuse(fmt::format("a dimension '{}'", cell), "32[19] or 32");
  return side->logical;
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

void require_size(std::initializer_list<std::int64_t> sides) {
  constexpr double kMost = 0x1p36;  // No chip's memory holds more.
  double elements = 1;
  for (const std::int64_t side : sides) elements *= static_cast<double>(side);
  if (elements > kMost) refuse(fmt::format("{:.3g} elements", elements), "2^36 at the most");
}

TensorSpec spec_of(const TensorCells& cells) {
  std::array<std::int64_t, 4> sides{};
  for (std::size_t i = 0; i < sides.size(); ++i) {
    sides[i] = cells.dimensions[i].empty() ? 1 : dimension_of(cells.dimensions[i]);
  }
  const Shape shape{sides[0], sides[1], sides[2], sides[3]};
  require_size({sides[0], sides[1], sides[2], sides[3]});
  const bool shards = layout_of(cells.memory).has_value();
  const bool dram = cells.memory.empty() || cells.memory.ends_with("_DRAM_INTERLEAVED") ||
                    (shards && cells.memory.find("_DRAM_") != std::string_view::npos);
  const bool l1 = cells.memory.ends_with("_L1_INTERLEAVED") || (shards && !dram);
  if (!dram && !l1) {
    refuse(fmt::format("{} is storage that the emulator does not have", cells.memory),
           "tensors in DRAM or L1");
  }
  const bool rows = cells.layout.starts_with("ROW_MAJOR");
  if (!rows && cells.layout != "TILE") {
    refuse(fmt::format("layout '{}'", cells.layout), "TILE, ROW_MAJOR");
  }
  return {.shape = shape,
          .dtype = parse_data_type(lower_case(cells.datatype)),
          .layout = rows ? Layout::row_major : Layout::tile,
          .storage = dram ? Storage::dram : Storage::l1};
}

Call::Call(const OpRow& row)
    : code(row.name),
      attributes(row.attributes),
      fidelity(row.fidelity),
      kernels(row.kernels),
      row_(row),
      inputs_(row.inputs.size()) {
  if (row.outputs.empty()) refuse("no output", "OUTPUT_0_X and its other columns");
}

const TensorCells& Call::cells(std::size_t i) const {
  if (i >= inputs()) refuse(fmt::format("{} inputs", inputs()), "more of them");
  return row_.inputs[i];
}

const TensorSpec& Call::in(std::size_t i) const {
  const TensorCells& told = cells(i);
  if (!inputs_[i]) {
    TensorSpec spec = spec_of(told);
    spec.sharding = input_shards(*this, i, spec);
    inputs_[i] = std::move(spec);
  }
  return *inputs_[i];
}

const TensorSpec& Call::out() const {
  if (!output_) {
    TensorSpec spec = spec_of(out_cells());
    spec.sharding = output_shards(*this, spec);
    output_ = std::move(spec);
  }
  return *output_;
}

std::optional<DataType> Call::place_type(std::size_t result) const {
  if (result >= row_.outputs.size()) return std::nullopt;
  const auto type = find_data_type(lower_case(row_.outputs[result].datatype));
  return type && is_whole(*type) ? type : std::nullopt;
}

std::optional<std::int64_t> Call::cores() const {
  constexpr std::int64_t kMostCores = 140;
  if (!row_.cores) return std::nullopt;
  return std::clamp<std::int64_t>(*row_.cores, 1, kMostCores);
}

std::int64_t Call::banks() const { return row_.architecture == "blackhole" ? 8 : 12; }

Program program_of(const Call& call, Attributes op) {
  if (!is_told(op, call.attributes)) {
    const TtnnWord word = ttnn_word_of(op);
    refuse(fmt::format("{} '{}'", word.name, call.attributes.find(word.name).value_or("")),
           std::string(word.value));
  }
  read_ttnn(op, call.attributes, call.fidelity);
  SpecList inputs;
  for (const OperandRole& role : input_roles(op)) {
    if (role.is_optional && inputs.size() >= call.inputs()) break;
    do {
      inputs.push_back(call.in(inputs.size()));
    } while (role.repeats && inputs.size() < call.inputs());
  }
  std::vector<Operand> results{call.out()};
  const std::span<const OperandRole> roles = result_roles(op);
  if (roles.size() > 1 || are_places(roles.front().takes)) {
    // Further results may have no columns. Places may have fewer dimensions.
    SpecList made = results_of(op, inputs);
    results.clear();
    for (std::size_t i = 0; i < made.size(); ++i) {
      TensorSpec& spec = made[i];
      if (are_places(roles[i].takes)) {
        spec.dtype = call.place_type(i).value_or(spec.dtype);
      } else {
        spec.storage = call.out().storage;
        spec.dtype = call.out().dtype;
        if (spec.shape == made.front().shape) spec.sharding = call.out().sharding;
      }
      results.emplace_back(spec);
    }
  }
  return make_program(op, {inputs.begin(), inputs.end()}, std::move(results));
}

}  // namespace howard::profiler::logged
