// SPDX-License-Identifier: Apache-2.0
#include "engines/wormhole/profiles/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "engines/wormhole/profiles/contradictions.h"
#include "engines/wormhole/profiles/profiles.h"

namespace howard::wormhole {
namespace {

ChipProfile read_chip(Constants constants) {
  const Frequency clock = constants.frequency("clock.aiclk");
  const int columns = constants.count("tensix.columns");
  const auto share = [&](std::string_view name) {
    return constants.share(name, "dram.bandwidth", clock);
  };
  ChipProfile chip{
      .name = constants.name(),
      .aiclk = clock,
      .worker_grid = {columns, constants.count("tensix.rows") - 1},
      .eth_grid = {columns, constants.count("grid.eth.rows")},
      .l1_circular_buffers = constants.bytes("l1.capacity"),
      .dram_capacity = constants.bytes("dram.capacity"),
      .dram_bandwidth = constants.bandwidth("dram.bandwidth", clock),
      .dram_read_noc0 = share("dram.read.noc0"),
      .dram_read_noc1 = share("dram.read.noc1"),
      .dram_spread = share("dram.spread"),
      .dram_write_noc0 = share("dram.write.noc0"),
      .dram_write_noc1 = share("dram.write.noc1"),
      .dram_banks = constants.count("dram.banks"),
      .dram_crowding = constants.part("dram.crowding"),
      .dram_crowding_steps = constants.count("dram.crowding_steps"),
      .noc_link = constants.bandwidth("noc.link", clock),
      .noc_multicast = constants.bandwidth("noc.multicast", clock),
      .noc_read_latency = constants.time("noc.read_latency", clock),
      .noc_write_latency = constants.time("noc.write_latency", clock),
      .l1_latency = constants.time("noc.l1_latency", clock),
      .matrix_flops_per_cycle = constants.count("matrix.flops_per_cycle"),
      .unpack = constants.bandwidth("unpack.bandwidth", clock),
      .pack_accumulate_tile = constants.time("pack.accumulate_tile", clock),
      .pcie_write = constants.bandwidth("pcie.write", clock),
      .pcie_read = constants.bandwidth("pcie.read", clock),
      .remote_write = constants.bandwidth("remote.write", clock),
      .remote_read = constants.bandwidth("remote.read", clock),
      .link_latency = constants.time("link.latency", clock),
  };
  constants.require_all_read();
  return chip;
}

// `clock` is the chip's, because dispatch kernels, firmware and compute kernels cost cycles of the
// chip's cores.

DispatchCosts read_dispatch(Constants& constants, Frequency clock) {
  return {
      .program = constants.time("dispatch.program", clock),
      .binary = constants.time("dispatch.binary", clock),
      .write = constants.bandwidth("dispatch.write", clock),
      .configuration = constants.time("dispatch.configuration", clock),
      .core_arguments = constants.time("dispatch.core_arguments", clock),
      .group = constants.time("dispatch.group", clock),
      .group_least = constants.time("dispatch.group_least", clock),
      .circular_buffer_group = constants.time("dispatch.circular_buffer_group", clock),
      .from_eth = constants.time("dispatch.from_eth", clock),
      .replay = constants.time("dispatch.replay", clock),
      .go = constants.time("dispatch.go", clock),
      .go_core = constants.time("dispatch.go_core", clock),
      .go_binary = constants.time("dispatch.go_binary", clock),
      .launch_ring = constants.count("dispatch.launch_ring"),
      .configuration_ring = constants.bytes("dispatch.configuration_ring"),
  };
}

std::array<SimTime, kEltwiseFunctions> read_functions(Constants& constants, Frequency clock) {
  std::array<SimTime, kEltwiseFunctions> times;
  for (const EltwiseEntry& entry : eltwise_catalogue()) {
    times.at(static_cast<std::size_t>(entry.function)) =
        constants.time(fmt::format("tiles.{}", entry.cost), clock);
  }
  return times;
}

TileCosts read_tiles(Constants& constants, Frequency clock) {
  return {
      .start = constants.time("tiles.start", clock),
      .operand = constants.time("tiles.operand", clock),
      .multiply = constants.time("tiles.multiply", clock),
      .interference = constants.part("tiles.interference"),
      .store = constants.time("tiles.store", clock),
      .fpu = constants.time("tiles.fpu", clock),
      .simple = constants.time("tiles.simple", clock),
      .reduce = constants.time("tiles.reduce", clock),
      .transpose = constants.time("tiles.transpose", clock),
      .random = constants.time("tiles.random", clock),
      .gelu_backward = constants.time("tiles.gelu_backward", clock),
      .adamw = constants.time("tiles.adamw", clock),
      .pass = constants.time("tiles.pass", clock),
      .softmax_row = constants.time("tiles.softmax_row", clock),
      .softmax_start = constants.time("tiles.softmax_start", clock),
      .ttml_layernorm = constants.time("tiles.ttml_layernorm", clock),
      .functions = read_functions(constants, clock),
  };
}

MovementCosts read_movement(Constants& constants, Frequency clock) {
  return {
      .face_line = constants.time("movement.face_line", clock),
      .segment = constants.time("movement.segment", clock),
      .mask = constants.time("movement.mask", clock),
  };
}

AttentionCosts read_attention(Constants& constants, Frequency clock) {
  return {
      .exp = constants.time("attention.exp", clock),
      .max = constants.time("attention.max", clock),
      .sum = constants.time("attention.sum", clock),
      .chunk = constants.time("attention.chunk", clock),
  };
}

CollectiveCosts read_all_reduce(Constants& constants, Frequency clock) {
  return {
      .start = constants.time("all_reduce.start", clock),
      .step = constants.time("all_reduce.step", clock),
      .pair = constants.bandwidth("all_reduce.pair", clock),
      .line = constants.bandwidth("all_reduce.line", clock),
  };
}

/// Reads the times that only scripts use, which take them from the constants (script_times.h).
void read_script_times(Constants& constants) {
  for (const char* const name : {"host.ttnn_call", "host.program_miss", "host.kernel_compile"}) {
    static_cast<void>(constants.time(name));
  }
}

SoftwareProfile read_software(Constants constants, Frequency clock) {
  SoftwareProfile software{
      .name = constants.name(),
      .host_op_call = constants.time("host.op_call"),
      .host_allocation = constants.time("host.allocation"),
      .host_python_call = constants.time("host.python_call"),
      .host_graph_node = constants.time("host.graph_node"),
      .host_finish = constants.time("host.finish"),
      .host_capture = constants.time("host.capture_call"),
      .host_replay = constants.time("host.replay_call"),
      .profiler_push = constants.time("profiler.push", clock),
      .profiler_read = constants.time("profiler.read"),
      .most_command_queues = constants.count("queue.most"),
      .most_sub_devices = constants.count("sub_device.most"),
      .trace_region = constants.bytes("trace.region"),
      .trace_page = constants.bytes("trace.page"),
      .issue_entries_worker = constants.count("queue.issue_entries.worker"),
      .issue_entries_eth = constants.count("queue.issue_entries.eth"),
      .l1_firmware = constants.bytes("l1.firmware"),
      .dispatch = read_dispatch(constants, clock),
      .ttnn_binary_bytes = constants.bytes("ttnn.binary_bytes"),
      .ttnn_matmul_binary_bytes = constants.bytes("ttnn.matmul_binary_bytes"),
      .ttnn_matmul_arguments = constants.count("ttnn.matmul_arguments"),
      .ttnn_binary_arguments = constants.count("ttnn.binary_arguments"),
      .ttnn_unary_arguments = constants.count("ttnn.unary_arguments"),
      .ttnn_other_arguments = constants.count("ttnn.other_arguments"),
      .tiles = read_tiles(constants, clock),
      .movement = read_movement(constants, clock),
      .attention = read_attention(constants, clock),
      .all_reduce = read_all_reduce(constants, clock),
      .matmul_start = constants.time("matmul.start", clock),
      .matmul_read_issue = constants.time("matmul.read_issue", clock),
      .matmul_tile_product = constants.time("matmul.tile_product", clock),
      .matmul_output_tile = constants.time("matmul.output_tile", clock),
      .minimal_matmul_handshake = constants.time("minimal_matmul.handshake", clock),
      .matmul_next_product = constants.time("matmul.next_product", clock),
      .matmul_next_multicast_product = constants.time("matmul.next_multicast_product", clock),
      .matmul_transposed_unpack = constants.count("matmul.transposed_unpack"),
      .matmul_fuses_transposes = constants.flag("matmul.fuses_transposes"),
  };
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
    const auto suggestion = closest(name, names);
    throw Error({.attempted = "set a constant",
                 .value = "'" + setting + "'",
                 .accepted = "NAME=QUANTITY, NAME being a constant of the profiles",
                 .hint = suggestion ? *suggestion + "=..." : "noc.link=30B/cycle"});
  }
  owner->set(name, std::string_view(setting).substr(equals + 1));
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

}  // namespace howard::wormhole
