// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/profiles/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <iterator>
#include <string_view>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "engines/chip/profiles/contradictions.h"
#include "engines/chip/profiles/profiles.h"

namespace howard::chip {
namespace {

/// Names a constant of a profile and the member of a struct that holds it.
template <class Struct, class Value, class Reader>
struct ProfileField {
  std::string_view name;
  Value Struct::*place;
  Reader reader;  ///< Says how it is read if its type does not say so.
};

template <class Struct, class Value, class Reader = std::nullptr_t>
constexpr ProfileField<Struct, Value, Reader> constant(std::string_view name, Value Struct::*place,
                                                       Reader reader = {}) {
  return {name, place, reader};
}

/// Fills the members that `fields` lists. `clock` is the chip's, because dispatch kernels, firmware
/// and compute kernels cost cycles of the chip's cores.
template <class Struct, class... Fields>
void fill(Struct& to, Constants& constants, Frequency clock, const std::tuple<Fields...>& fields) {
  const auto fill_one =
      [&]<class Value, class Reader>(const ProfileField<Struct, Value, Reader>& field) {
        Value& value = to.*field.place;
        if constexpr (std::is_invocable_v<Reader, Constants&, std::string_view, Frequency>) {
          value = std::invoke(field.reader, constants, field.name, clock);
        } else if constexpr (std::is_invocable_v<Reader, Constants&, std::string_view>) {
          value = std::invoke(field.reader, constants, field.name);
        } else if constexpr (std::is_same_v<Value, SimTime>) {
          value = constants.time(field.name, clock);
        } else if constexpr (std::is_same_v<Value, Bandwidth>) {
          value = constants.bandwidth(field.name, clock);
        } else if constexpr (std::is_same_v<Value, Bytes>) {
          value = constants.bytes(field.name);
        } else if constexpr (std::is_same_v<Value, bool>) {
          value = constants.flag(field.name);
        } else if constexpr (std::is_same_v<Value, int>) {
          value = constants.count(field.name);
        } else {
          static_assert(std::is_same_v<Value, std::int64_t>);
          value = constants.part(field.name);
        }
      };
  std::apply([&](const auto&... field) { (fill_one(field), ...); }, fields);
}

/// The host's time does not follow the chip's clock.
SimTime time_without_cycles(Constants& constants, std::string_view name) {
  return constants.time(name);
}

Bandwidth share_of_dram(Constants& constants, std::string_view name, Frequency clock) {
  return constants.share(name, "dram.bandwidth", clock);
}

constexpr std::tuple kChipConstants{
    constant("l1.capacity", &ChipProfile::l1_circular_buffers),
    constant("dram.capacity", &ChipProfile::dram_capacity),
    constant("dram.bandwidth", &ChipProfile::dram_bandwidth),
    constant("dram.read.noc0", &ChipProfile::dram_read_noc0, share_of_dram),
    constant("dram.read.noc1", &ChipProfile::dram_read_noc1, share_of_dram),
    constant("dram.spread", &ChipProfile::dram_spread, share_of_dram),
    constant("dram.write.noc0", &ChipProfile::dram_write_noc0, share_of_dram),
    constant("dram.write.noc1", &ChipProfile::dram_write_noc1, share_of_dram),
    constant("dram.banks", &ChipProfile::dram_banks),
    constant("dram.crowding", &ChipProfile::dram_crowding),
    constant("dram.crowding_steps", &ChipProfile::dram_crowding_steps),
    constant("noc.link", &ChipProfile::noc_link),
    constant("noc.multicast", &ChipProfile::noc_multicast),
    constant("noc.read_latency", &ChipProfile::noc_read_latency),
    constant("noc.write_latency", &ChipProfile::noc_write_latency),
    constant("noc.l1_latency", &ChipProfile::l1_latency),
    constant("matrix.flops_per_cycle", &ChipProfile::matrix_flops_per_cycle, &Constants::count),
    constant("unpack.bandwidth", &ChipProfile::unpack),
    constant("pack.accumulate_tile", &ChipProfile::pack_accumulate_tile),
    constant("pcie.write", &ChipProfile::pcie_write),
    constant("pcie.read", &ChipProfile::pcie_read),
    constant("remote.write", &ChipProfile::remote_write),
    constant("remote.read", &ChipProfile::remote_read),
    constant("link.latency", &ChipProfile::link_latency),
};

ChipProfile read_chip(Constants constants) {
  ChipProfile chip{.name = constants.name(), .aiclk = constants.frequency("clock.aiclk")};
  fill(chip, constants, chip.aiclk, kChipConstants);
  const int columns = constants.count("tensix.columns");
  chip.worker_grid = {columns, constants.count("tensix.rows") - 1};
  chip.eth_grid = {columns, constants.count("grid.eth.rows")};
  constants.require_all_read();
  return chip;
}

constexpr std::tuple kDispatchConstants{
    constant("dispatch.program", &DispatchCosts::program),
    constant("dispatch.binary", &DispatchCosts::binary),
    constant("dispatch.write", &DispatchCosts::write),
    constant("dispatch.configuration", &DispatchCosts::configuration),
    constant("dispatch.core_arguments", &DispatchCosts::core_arguments),
    constant("dispatch.group", &DispatchCosts::group),
    constant("dispatch.group_least", &DispatchCosts::group_least),
    constant("dispatch.circular_buffer_group", &DispatchCosts::circular_buffer_group),
    constant("dispatch.from_eth", &DispatchCosts::from_eth),
    constant("dispatch.replay", &DispatchCosts::replay),
    constant("dispatch.go", &DispatchCosts::go),
    constant("dispatch.go_core", &DispatchCosts::go_core),
    constant("dispatch.go_binary", &DispatchCosts::go_binary),
    constant("dispatch.launch_ring", &DispatchCosts::launch_ring),
    constant("dispatch.configuration_ring", &DispatchCosts::configuration_ring),
};

constexpr std::tuple kTileConstants{
    constant("tiles.start", &TileCosts::start),
    constant("tiles.operand", &TileCosts::operand),
    constant("tiles.multiply", &TileCosts::multiply),
    constant("tiles.interference", &TileCosts::interference),
    constant("tiles.store", &TileCosts::store),
    constant("tiles.fpu", &TileCosts::fpu),
    constant("tiles.simple", &TileCosts::simple),
    constant("tiles.reduce", &TileCosts::reduce),
    constant("tiles.transpose", &TileCosts::transpose),
    constant("tiles.random", &TileCosts::random),
    constant("tiles.gelu_backward", &TileCosts::gelu_backward),
    constant("tiles.adamw", &TileCosts::adamw),
    constant("tiles.pass", &TileCosts::pass),
    constant("tiles.softmax_row", &TileCosts::softmax_row),
    constant("tiles.softmax_start", &TileCosts::softmax_start),
    constant("tiles.ttml_layernorm", &TileCosts::ttml_layernorm),
};

constexpr std::tuple kMovementConstants{
    constant("movement.face_line", &MovementCosts::face_line),
    constant("movement.segment", &MovementCosts::segment),
    constant("movement.mask", &MovementCosts::mask),
};

constexpr std::tuple kAttentionConstants{
    constant("attention.exp", &AttentionCosts::exp),
    constant("attention.max", &AttentionCosts::max),
    constant("attention.sum", &AttentionCosts::sum),
    constant("attention.chunk", &AttentionCosts::chunk),
    constant("attention.accurate_exp", &AttentionCosts::accurate_exp),
};

constexpr std::tuple kCollectiveConstants{
    constant("all_gather.start", &CollectiveCosts::gather_start),
    constant("all_gather.step", &CollectiveCosts::gather_step),
    constant("all_gather.link", &CollectiveCosts::gather_link),
    constant("all_gather.copy", &CollectiveCosts::gather_copy),
    constant("reduce_scatter.start", &CollectiveCosts::scatter_start),
    constant("reduce_scatter.step", &CollectiveCosts::scatter_step),
    constant("reduce_scatter.link", &CollectiveCosts::scatter_link),
    constant("reduce_scatter.add", &CollectiveCosts::scatter_add),
};

constexpr std::tuple kSoftwareConstants{
    constant("host.op_call", &SoftwareProfile::host_op_call, time_without_cycles),
    constant("host.allocation", &SoftwareProfile::host_allocation, time_without_cycles),
    constant("host.python_call", &SoftwareProfile::host_python_call, time_without_cycles),
    constant("host.graph_node", &SoftwareProfile::host_graph_node, time_without_cycles),
    constant("host.finish", &SoftwareProfile::host_finish, time_without_cycles),
    constant("host.capture_call", &SoftwareProfile::host_capture, time_without_cycles),
    constant("host.replay_call", &SoftwareProfile::host_replay, time_without_cycles),
    constant("profiler.push", &SoftwareProfile::profiler_push),
    constant("profiler.read", &SoftwareProfile::profiler_read, time_without_cycles),
    constant("queue.most", &SoftwareProfile::most_command_queues),
    constant("sub_device.most", &SoftwareProfile::most_sub_devices),
    constant("trace.region", &SoftwareProfile::trace_region),
    constant("trace.page", &SoftwareProfile::trace_page),
    constant("queue.issue_entries.worker", &SoftwareProfile::issue_entries_worker),
    constant("queue.issue_entries.eth", &SoftwareProfile::issue_entries_eth),
    constant("l1.firmware", &SoftwareProfile::l1_firmware),
    constant("ttnn.binary_bytes", &SoftwareProfile::ttnn_binary_bytes),
    constant("ttnn.matmul_binary_bytes", &SoftwareProfile::ttnn_matmul_binary_bytes),
    constant("ttnn.matmul_arguments", &SoftwareProfile::ttnn_matmul_arguments),
    constant("ttnn.binary_arguments", &SoftwareProfile::ttnn_binary_arguments),
    constant("ttnn.unary_arguments", &SoftwareProfile::ttnn_unary_arguments),
    constant("ttnn.other_arguments", &SoftwareProfile::ttnn_other_arguments),
    constant("matmul.start", &SoftwareProfile::matmul_start),
    constant("matmul.read_issue", &SoftwareProfile::matmul_read_issue),
    constant("matmul.tile_product", &SoftwareProfile::matmul_tile_product),
    constant("matmul.output_tile", &SoftwareProfile::matmul_output_tile),
    constant("minimal_matmul.handshake", &SoftwareProfile::minimal_matmul_handshake),
    constant("matmul.next_product", &SoftwareProfile::matmul_next_product),
    constant("matmul.next_multicast_product", &SoftwareProfile::matmul_next_multicast_product),
    constant("matmul.transposed_unpack", &SoftwareProfile::matmul_transposed_unpack),
    constant("matmul.fuses_transposes", &SoftwareProfile::matmul_fuses_transposes),
};

/// Reads the times that only scripts use, which take them from the constants (script_times.h).
void read_script_times(Constants& constants) {
  for (const char* const name : {"host.ttnn_call", "host.program_miss", "host.kernel_compile"}) {
    static_cast<void>(constants.time(name));
  }
}

SoftwareProfile read_software(Constants constants, Frequency clock) {
  SoftwareProfile software{.name = constants.name()};
  fill(software, constants, clock, kSoftwareConstants);
  fill(software.dispatch, constants, clock, kDispatchConstants);
  fill(software.tiles, constants, clock, kTileConstants);
  fill(software.movement, constants, clock, kMovementConstants);
  fill(software.attention, constants, clock, kAttentionConstants);
  fill(software.collectives, constants, clock, kCollectiveConstants);
  for (const EltwiseEntry& entry : eltwise_catalogue()) {
    software.tiles.functions.at(static_cast<std::size_t>(entry.function)) =
        constants.time(fmt::format("tiles.{}", entry.cost), clock);
  }
  read_script_times(constants);
  constants.require_all_read();
  return software;
}

/// Returns the text of a built-in profile if there is one of that name, otherwise that of a file.
std::string profile_text(const std::string& name_or_file) {
  const std::vector<std::string> built_in = built_in_profiles();
  if (std::ranges::find(built_in, name_or_file) != built_in.end()) {
    return std::string(built_in_profile(name_or_file));
  }
  std::error_code ignored;
  if (!std::filesystem::exists(name_or_file, ignored)) {
    const auto suggestion = closest(name_or_file, built_in);
    throw Error({.attempted = fmt::format("read profile '{}'", name_or_file),
                 .value = "No such file or directory",
                 .accepted = join(built_in, ", ") + ", or a JSON file",
                 .hint = suggestion ? "--profile " + *suggestion : ""});
  }
  return read_file(name_or_file);
}

/// Loads the profile of `kind` among those chosen, or the default.
Constants load(const std::vector<std::string>& chosen, std::string_view kind,
               std::string_view default_name) {
  std::string origin(default_name);
  bool found = false;
  for (const std::string& candidate : chosen) {
    if (profile_kind(profile_text(candidate), candidate) != kind) continue;
    if (found) {
      throw Error({.attempted = fmt::format("choose the {} profile", kind),
                   .value = origin + " and " + candidate,
                   .accepted = "one of them",
                   .hint = ""});
    }
    origin = candidate;
    found = true;
  }
  return Constants::parse(profile_text(origin), origin, kind);
}

}  // namespace

std::string_view name_of(DispatchCoreType type) {
  return type == DispatchCoreType::worker ? "WORKER" : "ETH";
}

CoreGrid ChipProfile::compute_grid(DispatchCoreType type) const {
  return type == DispatchCoreType::worker ? worker_grid : eth_grid;
}

SimTime ChipProfile::tile_pass() const {
  constexpr double kFlops = 2.0 * kTileSide * kTileSide * kTileSide;
  return SimTime::picoseconds(
      std::llround(kFlops * 1e12 / static_cast<double>(matrix_flops_per_cycle) /
                   static_cast<double>(aiclk.value())));
}

double ChipProfile::peak_flops(int cores, MathFidelity fidelity) const {
  return static_cast<double>(cores) * static_cast<double>(matrix_flops_per_cycle) /
         static_cast<double>(fidelity) * static_cast<double>(aiclk.value());
}

int SoftwareProfile::issue_entries(DispatchCoreType type) const {
  return type == DispatchCoreType::worker ? issue_entries_worker : issue_entries_eth;
}

void set_constant(ProfileConstants& constants, const std::string& setting) {
  auto& [chip, software] = constants;
  const std::size_t equals = setting.find('=');
  const std::string name = setting.substr(0, equals);
  Constants* const owner =
      chip.contains(name) ? &chip : (software.contains(name) ? &software : nullptr);
  if (owner == nullptr || equals == std::string::npos) {
    std::vector<std::string> names = chip.names();
    for (std::string& other : software.names()) names.push_back(std::move(other));
    std::vector<std::string> below;  // "dram.read" is the beginning of several
    std::ranges::copy_if(names, std::back_inserter(below),
                         [&](const std::string& known) { return known.starts_with(name + "."); });
    const auto suggestion = closest(name, names);
    throw Error({.attempted = "set a constant",
                 .value = "'" + setting + "'",
                 .accepted = "NAME=QUANTITY, NAME being a constant of the profiles",
                 .hint = !below.empty() ? join(below, "=... or ") + "=..."
                         : suggestion   ? *suggestion + "=..."
                                        : "noc.link=30B/cycle"});
  }
  const std::string quantity = setting.substr(equals + 1);
  if (quantity.find(',') != std::string::npos || quantity.find("..") != std::string::npos) {
    throw Error({.attempted = "set constant " + name,
                 .value = "'" + quantity + "'",
                 .accepted = "one quantity; several make an axis of experiments alone",
                 .hint = "a run for each"});
  }
  owner->set(name, quantity);
}

ProfileConstants load_constants(const ProfileChoice& choice) {
  ProfileConstants constants{load(choice.profiles, "chip", kDefaultChipProfile),
                             load(choice.profiles, "software", kDefaultSoftwareProfile)};
  for (const std::string& setting : choice.settings) set_constant(constants, setting);
  return constants;
}

Profiles read_profiles(const ProfileConstants& constants) {
  Profiles profiles;
  profiles.chip = read_chip(constants.chip);
  profiles.software = read_software(constants.software, profiles.chip.aiclk);
  const SoftwareProfile& software = profiles.software;
  Bytes& l1 = profiles.chip.l1_circular_buffers;
  l1 = l1 - software.l1_firmware - software.dispatch.configuration_ring;
  require_no_contradiction(constants, profiles);
  return profiles;
}

Profiles load_profiles(const ProfileChoice& choice) {
  return read_profiles(load_constants(choice));
}

bool are_published(const Profiles& profiles) {
  Profiles published = load_profiles();
  published.chip.name = profiles.chip.name;
  published.software.name = profiles.software.name;
  return profiles.chip == published.chip && profiles.software == published.software;
}

}  // namespace howard::chip
