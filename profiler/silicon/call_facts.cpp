// SPDX-License-Identifier: Apache-2.0
#include "profiler/silicon/call_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "engines/chip/calibration/bands.h"
#include "engines/chip/kernels/planner.h"
#include "engines/chip/kernels/ttnn_names.h"
#include "engines/program/op_attributes.h"
#include "profiler/silicon/logged_call.h"
#include "profiler/silicon/logged_position.h"

namespace howard::profiler {
namespace {

constexpr double kElementsOfTile = 1024;

using logged::Side;

/// Returns a side as the cell states it; a tensor without the dimension has 1. The result is absent
/// for damage.
std::optional<Side> side_of(std::string_view cell) {
  if (cell.empty()) return Side{};
  const auto side = logged::parse_side(cell);
  if (!side || side->padded < 0) return std::nullopt;
  return Side{side->padded, std::clamp<std::int64_t>(side->logical, 0, side->padded)};
}

struct TypeFacts {
  std::string_view name, brief;
  std::int64_t bytes_of_1024;  ///< Block floats share an exponent between sixteen.
};

const TypeFacts* facts_of_type(std::string_view type) {
  static constexpr std::array<TypeFacts, 10> kTypes{{{"BFLOAT16", "bf16", 2048},
                                                     {"FLOAT32", "fp32", 4096},
                                                     {"BFLOAT8_B", "bfp8", 1088},
                                                     {"BFLOAT4_B", "bfp4", 576},
                                                     {"UINT32", "u32", 4096},
                                                     {"INT32", "i32", 4096},
                                                     {"UINT16", "u16", 2048},
                                                     {"UINT8", "u8", 1024},
                                                     {"INT8", "i8", 1024},
                                                     {"FP8_E4M3", "fp8", 1024}}};
  const auto found = std::ranges::find(kTypes, type, &TypeFacts::name);
  return found != kTypes.end() ? &*found : nullptr;
}

/// Holds what the cells of a tensor say.
struct Sizes {
  std::array<Side, 4> sides;
  bool known = true;  ///< Its sides and its type are, and so its bytes.
  double bytes = 0;
  bool in_dram = false;
  std::string shape;  ///< "20x19x64"
  std::string type, brief;
  std::string place;  ///< " in L1", or nothing.

  std::string text() const { return fmt::format("{} {}{}", shape, type, place); }
  double product(std::size_t from, std::size_t to) const {
    double product = 1;
    for (std::size_t i = from; i < to; ++i) product *= static_cast<double>(sides.at(i).padded);
    return product;
  }
  double matrices() const { return product(0, 2); }
  /// Returns no more than can be counted.
  std::int64_t tiles() const {
    constexpr double kMost = 1e15;
    const auto in_tiles = [](const Side& side) {
      return std::ceil(static_cast<double>(side.padded) / kTileSide);
    };
    return static_cast<std::int64_t>(
        std::min(kMost, matrices() * in_tiles(sides[2]) * in_tiles(sides[3])));
  }
};

Sizes sizes_of(const TensorCells& cells) {
  Sizes sizes;
  for (std::size_t i = 0; i < sizes.sides.size(); ++i) {
    const auto side = side_of(cells.dimensions.at(i));
    sizes.known = sizes.known && side.has_value();
    sizes.sides.at(i) = side.value_or(Side{});
    const bool leads = i < 2 && sizes.shape.empty() && side && side->logical == 1;
    if (leads) continue;
    sizes.shape += sizes.shape.empty() ? "" : "x";
    sizes.shape +=
        side ? fmt::to_string(side->logical) : std::string(cells.dimensions.at(i).substr(0, 20));
  }
  const TypeFacts* const type = facts_of_type(cells.datatype);
  constexpr double kMost = 1e13;  // ten thousand gigabytes: no tensor of a chip
  const double elements = sizes.product(0, 4);
  sizes.known = sizes.known && type != nullptr && elements <= kMost;
  sizes.bytes =
      sizes.known ? elements * static_cast<double>(type->bytes_of_1024) / kElementsOfTile : 0;
  sizes.type = lower_case(cells.datatype);
  sizes.brief = type != nullptr ? std::string(type->brief) : sizes.type;
  sizes.in_dram = cells.memory.empty() || cells.memory.find("_DRAM_") != std::string_view::npos;
  if (!sizes.in_dram) sizes.place = " in L1";
  return sizes;
}

using AllSizes = std::vector<Sizes>;

/// Returns 2 M N K for each matrix of the result; K is the first operand's columns, or its rows
/// where it is transposed. N is the result's, so that a transposed second operand changes nothing.
double flops_of_product(const OpRow& call, const Sizes& a, const Sizes& out) {
  const auto told = OpAttributes(call.attributes).find("transpose_a");
  const bool transposed = told == "true" || told == "1";
  return 2 * static_cast<double>(a.sides[transposed ? 2 : 3].padded) * out.product(0, 4);
}

/// Returns the place of the first query among those of a sequence whose keys lie in pages; absent
/// where the keys are the second operand.
std::optional<std::int64_t> first_place(const OpRow& call) {
  constexpr std::int64_t kMost = 1 << 30;
  const auto told = OpAttributes(call.attributes).find("chunk_start_idx");
  const auto place = told ? parse_integer(*told) : std::nullopt;
  return place && *place >= 0 && *place <= kMost ? place : std::nullopt;
}

/// Returns the operations of what the matrix units do: products, convolutions, whose weights are a
/// matrix with a row for each value of a window, and attention over all keys.
double flops_of(const OpRow& call, const AllSizes& in, const Sizes& out) {
  if (in.size() >= 2 && chip::is_product(call.name)) return flops_of_product(call, in[0], out);
  if (in.size() >= 2 && chip::is_convolution(call.name)) {
    return 2 * static_cast<double>(in[1].sides[2].padded) * out.product(0, 4);
  }
  if (in.size() >= 3 && chip::is_attention(call.name)) {
    const OpAttributes told(call.attributes);
    const auto first = first_place(call);
    const bool causal =
        first.has_value() || told.find("is_causal") == "true" || told.find("is_causal") == "1";
    const auto own = static_cast<double>(in[first ? 0 : 1].sides[2].padded);
    const double keys = static_cast<double>(first.value_or(0)) + (causal ? own / 2 : own);
    return 4 * in[0].product(0, 4) * keys;
  }
  return 0;
}

/// Says whether a call that takes a batch of first operands and one second operand makes one
/// product of all.
bool folds_batch(const OpRow& call) {
  const OpAttributes told(call.attributes);
  if (told.find("user_core_coord")) return true;
  const auto fuses = told.member("program_config", "fuse_batch");
  return fuses == "1" || fuses == "true";
}

/// Returns the bytes of operands in DRAM that a call moves, each once.
double dram_of(const OpRow& call, const AllSizes& in, const AllSizes& out) {
  const auto bytes = [](const Sizes& sizes) { return sizes.in_dram ? sizes.bytes : 0; };
  if (chip::updates_a_part(call.name) && in.size() >= 2) {
    // The second operand goes into the first one, which is the result too.
    const double elements = in[1].product(0, 4);
    const double into = in[0].product(0, 4);
    return bytes(in[1]) + (into > 0 ? bytes(in[0]) * std::min(1.0, elements / into) : 0);
  }
  double written = 0, dram = 0;
  for (const Sizes& output : out) written += output.bytes;
  const bool picks = chip::picks_elements(call.name);  // it reads as much as its result holds
  for (const Sizes& input : in) dram += picks ? std::min(bytes(input), written) : bytes(input);
  for (const Sizes& output : out) dram += bytes(output);
  return dram;
}

/// Returns "32x1280 @ 1280x1280 bf16": the operands, with their types where these differ.
std::string short_text(const OpRow& call, const AllSizes& in, const AllSizes& out) {
  const AllSizes& shown = in.empty() ? out : in;
  const bool same = std::ranges::all_of(
      shown, [&](const Sizes& one) { return one.brief == shown.front().brief; });
  const std::string_view between = chip::is_product(call.name) && shown.size() >= 2 ? " @ " : ", ";
  std::string text;
  constexpr std::size_t kMost = 3;
  for (std::size_t i = 0; i < std::min(kMost, shown.size()); ++i) {
    text += fmt::format("{}{}{}",
                        i == 0   ? ""
                        : i == 1 ? between
                                 : ", ",
                        shown[i].shape, same ? "" : " " + shown[i].brief);
  }
  if (shown.size() > kMost) text += ", ...";
  if (same && !shown.empty()) text += " " + shown.front().brief;
  const bool inside = !shown.empty() && std::ranges::none_of(shown, &Sizes::in_dram);
  if (inside) text += " in L1";
  return text;
}

}  // namespace

CallFacts facts_of(const OpRow& call) {
  CallFacts facts;
  constexpr double kMost = 1e18;
  if (call.ideal && *call.ideal > 1) {  // it is 1 for an op without a model
    facts.ideal = SimTime::nanoseconds(std::min<std::int64_t>(*call.ideal, 1'000'000'000'000));
    const std::int64_t compute = call.ideal_compute.value_or(0);
    const std::int64_t bandwidth = call.ideal_bandwidth.value_or(0);
    if (compute != bandwidth) facts.ideal_bound = compute > bandwidth ? "compute" : "bandwidth";
  }
  AllSizes inputs, outputs;
  for (const TensorCells& tensor : call.inputs) inputs.push_back(sizes_of(tensor));
  for (const TensorCells& tensor : call.outputs) outputs.push_back(sizes_of(tensor));
  for (const Sizes& input : inputs) {
    facts.operands += (facts.operands.empty() ? "" : ", ") + input.text();
  }
  if (!outputs.empty()) facts.operands += " -> " + outputs.front().text();
  facts.short_operands = short_text(call, inputs, outputs);
  const bool known = std::ranges::all_of(inputs, &Sizes::known) &&
                     std::ranges::all_of(outputs, &Sizes::known) && !outputs.empty();
  if (!known) return facts;
  const double dram = dram_of(call, inputs, outputs);
  const double flops = flops_of(call, inputs, outputs.front());
  if (dram > kMost || flops > kMost) return facts;
  const bool shares = chip::is_product(call.name) && inputs.size() >= 2 &&
                      inputs[1].matrices() == 1 && inputs[0].matrices() > 1 && !folds_batch(call);
  if (shares && inputs[1].in_dram) {
    const double again = (inputs[0].matrices() - 1) * inputs[1].bytes;
    facts.batch = std::llround(std::min(kMost, inputs[0].matrices()));
    facts.read_again = Bytes(std::llround(std::min(kMost, again)));
  }
  facts.flops = Flops(std::llround(flops));
  facts.dram = Bytes(std::llround(dram));
  facts.moves_a_part = chip::reads_a_part(call.name) || first_place(call).has_value();
  facts.work_units = outputs.front().tiles();
  facts.knows_sizes = true;
  return facts;
}

CallEmulator::CallEmulator(const chip::Profiles& profiles) { add(profiles); }

void CallEmulator::add(const chip::Profiles& profiles) { chips_.push_back(profiles); }

std::size_t CallEmulator::place_of(const OpRow& call) const {
  const auto found = std::ranges::find_if(chips_, [&](const chip::Profiles& one) {
    return one.chip.architecture == call.architecture;
  });
  return found != chips_.end() ? static_cast<std::size_t>(found - chips_.begin()) : 0;
}

const chip::ChipProfile& CallEmulator::chip_of(const OpRow& call) const {
  return chips_[place_of(call)].chip;
}

EmulatedCall CallEmulator::emulate(const OpRow& call, LoggedProgram logged,
                                   SimTime measured) const {
  const chip::Profiles& profiles = chips_[place_of(call)];
  const CoreGrid grid =
      logged_grid(call, profiles.chip).value_or(grid_by_use(used_cores_, profiles.chip));
  const bool by_time = measured > SimTime() && lacks_position(logged.program);
  const std::int64_t places = by_time ? take_position(logged.program, measured, grid, profiles) : 0;
  const PlannedCall planned = plan_call(logged, grid, profiles);
  const chip::KernelCost& kernel = planned.planned.kernel;
  return {.kernel = kernel.total,
          .cores = kernel.cores,
          .bound_by = name_of(kernel.bottleneck),
          .places = places,
          .known = name_of(planned.band->known),
          .expected_error = planned.band->share,
          .program = std::move(logged.program)};
}

std::optional<EmulatedCall> CallEmulator::run(const OpRow& call, CallObstacle* why,
                                              SimTime measured) const {
  CallObstacle obstacle{Obstacle::no_such_op, "the emulator has no such op"};
  try {
    if (auto logged = logged_program(call)) return emulate(call, std::move(*logged), measured);
  } catch (const Error& failure) {
    obstacle = {Obstacle::refused, reason_of(failure)};
  }
  if (why != nullptr) *why = std::move(obstacle);
  return std::nullopt;
}

std::optional<EmulatedCall> CallEmulator::run(const OpRow& call, Program instead) const {
  try {
    return emulate(call, {std::move(instead)}, SimTime());
  } catch (const Error&) {
    return std::nullopt;
  }
}

SimTime CallEmulator::launch() const {
  const chip::Profiles& profiles = chips_.front();
  const TensorSpec tile{.shape = {kTileSide, kTileSide}, .storage = Storage::l1};
  const Program copy = make_program(eltwise_of(Eltwise::relu), {tile});
  return chip::plan_program(copy, usual_grid(profiles.chip), profiles).kernel.total;
}

SimTime dram_time_of(Bytes bytes, const chip::ChipProfile& chip) {
  const double seconds =
      static_cast<double>(bytes.value()) / static_cast<double>(chip.dram_bandwidth.value());
  return SimTime::picoseconds(std::llround(std::min(seconds, 1e6) * 1e12));
}

SimTime dram_time_at_peak(const CallFacts& facts, const chip::ChipProfile& chip) {
  if (!facts.knows_sizes || facts.moves_a_part) return {};
  return dram_time_of(facts.dram, chip);
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
