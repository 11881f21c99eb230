// SPDX-License-Identifier: Apache-2.0
#include "profiler/silicon/call_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "engines/chip/kernels/planner.h"
#include "engines/chip/kernels/ttnn_names.h"
#include "profiler/silicon/logged_call.h"
#include "profiler/silicon/logged_program.h"
#include "profiler/silicon/op_attributes.h"

namespace howard::profiler {
namespace {

/// More rows, columns or matrices are damage; their product must not leave 63 bits.
constexpr std::int64_t kLongestSide = 1 << 20;

using logged::Side;

/// Returns a side that a tensor of a chip can have.
std::optional<Side> side_of(std::string_view cell) {
  if (cell.empty()) return Side{};
  const auto side = logged::parse_side(cell);
  if (!side || side->padded < 1 || side->padded > kLongestSide) return std::nullopt;
  return Side{side->padded, std::clamp<std::int64_t>(side->logical, 1, side->padded)};
}

/// Returns the bytes of 1024 elements: block floats share an exponent between sixteen.
std::optional<std::int64_t> bytes_per_1024(std::string_view type) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 8> kTypes{{{"BFLOAT16", 2048},
                                                                             {"FLOAT32", 4096},
                                                                             {"BFLOAT8_B", 1088},
                                                                             {"BFLOAT4_B", 576},
                                                                             {"UINT32", 4096},
                                                                             {"INT32", 4096},
                                                                             {"UINT16", 2048},
                                                                             {"UINT8", 1024}}};
  for (const auto& [name, bytes] : kTypes) {
    if (name == type) return bytes;
  }
  return std::nullopt;
}

struct Sizes {
  std::array<Side, 4> sides;
  double bytes = 0;
  bool in_dram = false;
  std::string text;

  std::int64_t tiles() const {
    const auto [w, z, y, x] = sides;
    return w.padded * z.padded * ceil_div(y.padded, kTileSide) * ceil_div(x.padded, kTileSide);
  }
};

std::optional<Sizes> sizes_of(const TensorCells& cells) {
  Sizes sizes;
  double elements = 1;
  for (std::size_t i = 0; i < sizes.sides.size(); ++i) {
    const auto side = side_of(cells.dimensions[i]);
    if (!side) return std::nullopt;
    sizes.sides[i] = *side;
    elements *= static_cast<double>(side->padded);
    const bool leads = i < 2 && sizes.text.empty() && side->logical == 1;
    if (!leads) sizes.text += fmt::format("{}{}", sizes.text.empty() ? "" : "x", side->logical);
  }
  const auto bytes = bytes_per_1024(cells.datatype);
  constexpr double kMost = 1e13;  // ten thousand gigabytes: no tensor of a chip
  if (!bytes || elements > kMost) return std::nullopt;
  sizes.bytes = elements * static_cast<double>(*bytes) / 1024;
  sizes.in_dram = cells.memory.empty() || cells.memory.find("_DRAM_") != std::string_view::npos;
  sizes.text += " " + lower_case(cells.datatype);
  if (!sizes.in_dram) sizes.text += " in L1";
  return sizes;
}

/// Returns 2 M N K for each matrix of the result; K is the first operand's columns, or its rows
/// where it is transposed. N is the result's, so that a transposed second operand changes nothing.
double flops_of(const OpRow& call, const Sizes& a, const Sizes& out) {
  const bool transposed = OpAttributes(call.attributes).find("transpose_a") == "true" ||
                          OpAttributes(call.attributes).find("transpose_a") == "1";
  const auto inner = static_cast<double>(a.sides[transposed ? 2 : 3].padded);
  double flops = 2 * inner;
  for (const Side& side : out.sides) flops *= static_cast<double>(side.padded);
  return flops;
}

}  // namespace

CallFacts facts_of(const OpRow& call) {
  CallFacts facts;
  constexpr double kMost = 1e18;
  if (call.ideal && *call.ideal > 1) {  // it is 1 for an op without a model
    facts.ideal = SimTime::nanoseconds(std::min<std::int64_t>(*call.ideal, 1'000'000'000'000));
  }
  std::vector<Sizes> inputs, outputs;
  for (const auto& [cells, sizes] : {std::pair{&call.inputs, &inputs}, {&call.outputs, &outputs}}) {
    for (const TensorCells& tensor : *cells) {
      auto read = sizes_of(tensor);
      if (!read) return facts;
      sizes->push_back(std::move(*read));
    }
  }
  if (outputs.empty()) return facts;
  for (const Sizes& input : inputs) {
    facts.operands += (facts.operands.empty() ? "" : ", ") + input.text;
  }
  facts.operands += " -> " + outputs.front().text;
  double dram = 0;
  // These read as much of a long operand as their result holds.
  const bool picks = chip::picks_elements(call.name);
  double written = 0;
  for (const Sizes& output : outputs) written += output.bytes;
  for (const Sizes& input : inputs) {
    if (input.in_dram) dram += picks ? std::min(input.bytes, written) : input.bytes;
  }
  for (const Sizes& output : outputs) {
    if (output.in_dram) dram += output.bytes;
  }
  const bool product = chip::is_product(call.name) && inputs.size() >= 2;
  const double flops = product ? flops_of(call, inputs.front(), outputs.front()) : 0;
  if (dram > kMost || flops > kMost) return facts;
  facts.flops = Flops(std::llround(flops));
  facts.dram = Bytes(std::llround(dram));
  facts.work_units = outputs.front().tiles();
  facts.knows_sizes = true;
  return facts;
}

CallEmulator::CallEmulator(const chip::Profiles& profiles)
    : profiles_(profiles), device_(profiles) {}

std::optional<EmulatedCall> CallEmulator::run(const OpRow& call, CallObstacle* why) {
  const auto fail = [&](Obstacle kind, std::string text) -> std::optional<EmulatedCall> {
    if (why != nullptr) *why = {kind, std::move(text)};
    return std::nullopt;
  };
  try {
    const std::optional<Program> program = logged_program(call, device_);
    if (!program) return fail(Obstacle::no_such_op, "the emulator has no such op");
    const CoreGrid grid = logged_grid(call, profiles_.chip).value_or(usual_grid(profiles_.chip));
    const chip::PlannedProgram planned = plan_program(*program, grid, profiles_);
    return EmulatedCall{.kernel = planned.kernel.total,
                        .cores = planned.kernel.cores,
                        .bound_by = name_of(planned.kernel.bottleneck)};
  } catch (const Error& failure) {
    return fail(Obstacle::refused, failure.text().value);
  }
}

SimTime dram_time_at_peak(const CallFacts& facts, const chip::ChipProfile& chip) {
  if (!facts.knows_sizes) return {};
  const double seconds =
      static_cast<double>(facts.dram.value()) / static_cast<double>(chip.dram_bandwidth.value());
  return SimTime::picoseconds(std::llround(seconds * 1e12));
}

SimTime flops_time_at_peak(const CallFacts& facts, const chip::ChipProfile& chip, int cores,
                           std::string_view fidelity) {
  if (!facts.knows_sizes || facts.flops == Flops() || cores < 1) return {};
  constexpr std::array kAll{MathFidelity::lofi, MathFidelity::hifi2, MathFidelity::hifi3,
                            MathFidelity::hifi4};
  const auto known =
      std::ranges::find(kAll, fidelity, [](MathFidelity one) { return name_of(one); });
  const MathFidelity used = known != kAll.end() ? *known : MathFidelity::hifi2;
  const double seconds = static_cast<double>(facts.flops.value()) / chip.peak_flops(cores, used);
  return SimTime::picoseconds(std::llround(seconds * 1e12));
}

}  // namespace howard::profiler
