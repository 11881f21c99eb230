// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "engines/chip/profiles/constants.h"
#include "engines/device/program.h"

namespace howard::chip {

/// Says which cores run the dispatch kernels; this decides how many cores are left to compute.
enum class DispatchCoreType : std::uint8_t { worker, eth };

/// Returns "WORKER" or "ETH".
std::string_view name_of(DispatchCoreType type);

// profile.cpp names the constant of each member; profiles/*.json has its meaning, unit and source.

/// The constants of the chip.
struct ChipProfile {
  std::string name;
  Frequency aiclk;
  CoreGrid worker_grid;
  CoreGrid eth_grid;
  Bytes l1_circular_buffers;  // the part of l1.capacity that the software leaves
  Bytes dram_capacity;
  Bandwidth dram_bandwidth;
  Bandwidth dram_read_noc0;
  Bandwidth dram_read_noc1;
  Bandwidth dram_spread;
  Bandwidth dram_write_noc0;
  Bandwidth dram_write_noc1;
  int dram_banks = 1;
  std::int64_t dram_crowding = 0;  // in ten-thousandths
  int dram_crowding_steps = 1;
  Bandwidth noc_link;
  Bandwidth noc_multicast;
  SimTime noc_read_latency;
  SimTime noc_write_latency;
  SimTime l1_latency;
  std::int64_t matrix_flops_per_cycle = 0;
  Bandwidth unpack;
  SimTime pack_accumulate_tile;
  Bandwidth pcie_write;
  Bandwidth pcie_read;
  Bandwidth remote_write;
  Bandwidth remote_read;
  SimTime link_latency;

  CoreGrid compute_grid(DispatchCoreType type) const;

  /// Returns the time of one product of two tiles in the matrix unit, per fidelity pass.
  SimTime tile_pass() const;

  /// Returns the most operations per second that `cores` matrix units can do at `fidelity`.
  double peak_flops(int cores, MathFidelity fidelity) const;

  bool operator==(const ChipProfile&) const = default;
};

/// The costs of the dispatch kernels and the firmware (see footprint.h).
struct DispatchCosts {
  SimTime program;
  SimTime binary;
  Bandwidth write;
  SimTime configuration;
  SimTime core_arguments;
  SimTime group;
  SimTime group_least;
  SimTime circular_buffer_group;
  SimTime from_eth;
  SimTime replay;
  SimTime go;
  SimTime go_core;
  SimTime go_binary;
  int launch_ring = 0;
  Bytes configuration_ring;

  bool operator==(const DispatchCosts&) const = default;
};

/// The costs of ttnn's kernels that go from tile to tile (see tile_pipeline.h).
struct TileCosts {
  SimTime start;
  SimTime operand;
  SimTime multiply;
  std::int64_t interference = 0;  // in ten-thousandths
  SimTime store;
  SimTime fpu;
  SimTime simple;
  SimTime reduce;
  SimTime transpose;

  SimTime random;
  SimTime gelu_backward;
  SimTime adamw;
  SimTime pass;
  SimTime softmax_row;
  SimTime softmax_start;
  SimTime ttml_layernorm;

  /// The times of the elementwise functions; a function's entry in the catalogue names its
  /// constant.
  std::array<SimTime, kEltwiseFunctions> functions{};

  bool operator==(const TileCosts&) const = default;
};

/// The costs of ttnn's kernels that copy with a RISC (see movement_ops.cpp).
struct MovementCosts {
  SimTime face_line;
  SimTime segment;
  SimTime mask;

  bool operator==(const MovementCosts&) const = default;
};

/// The costs of attention kernels besides their products (attention_op.cpp, ttml_attention.cpp).
struct AttentionCosts {
  SimTime exp;
  SimTime max;
  SimTime sum;
  SimTime chunk;
  SimTime accurate_exp;

  bool operator==(const AttentionCosts&) const = default;
};

/// The costs of tt-metal's collectives over several chips (collective_ops.cpp says of what).
struct CollectiveCosts {
  SimTime gather_start;
  SimTime gather_step;
  Bandwidth gather_link;
  Bandwidth gather_copy;
  SimTime scatter_start;
  SimTime scatter_step;
  Bandwidth scatter_link;
  Bandwidth scatter_add;

  bool operator==(const CollectiveCosts&) const = default;
};

/// The constants of tt-metal, ttnn and the host that drives them.
struct SoftwareProfile {
  std::string name;
  SimTime host_op_call;
  SimTime host_allocation;
  SimTime host_python_call;
  SimTime host_graph_node;
  SimTime host_finish;
  SimTime host_capture;
  SimTime host_replay;
  SimTime profiler_push;
  SimTime profiler_read;
  int most_command_queues = 0;
  int most_sub_devices = 0;
  Bytes trace_region;
  Bytes trace_page;
  int issue_entries_worker = 0;
  int issue_entries_eth = 0;
  Bytes l1_firmware;  // l1.firmware
  DispatchCosts dispatch;
  Bytes ttnn_binary_bytes;
  Bytes ttnn_matmul_binary_bytes;
  int ttnn_matmul_arguments = 0;
  int ttnn_binary_arguments = 0;
  int ttnn_unary_arguments = 0;
  int ttnn_other_arguments = 0;
  TileCosts tiles;
  MovementCosts movement;
  AttentionCosts attention;
  CollectiveCosts collectives;
  SimTime matmul_start;
  SimTime matmul_read_issue;
  SimTime matmul_tile_product;
  SimTime matmul_output_tile;
  SimTime minimal_matmul_handshake;
  SimTime matmul_next_product;
  SimTime matmul_next_multicast_product;
  int matmul_transposed_unpack = 1;
  bool matmul_fuses_transposes = true;

  int issue_entries(DispatchCoreType type) const;

  bool operator==(const SoftwareProfile&) const = default;
};

struct Profiles {
  ChipProfile chip;
  SoftwareProfile software;
};

/// Says what to read instead of the built-in defaults.
struct ProfileChoice {
  /// The names of built-in profiles, or files; at most one of each kind.
  std::vector<std::string> profiles;
  /// Single constants to replace, NAME=QUANTITY: "dram.read.noc1=190GB/s".
  std::vector<std::string> settings;

  bool is_default() const { return profiles.empty() && settings.empty(); }
};

/// The constants of two profiles as their files state them, with settings applied.
struct ProfileConstants {
  Constants chip, software;
};

/// Returns the constants of `choice`. Throws Error, naming the file, when a file is no profile or
/// has malformed constants, when two profiles are of one kind, or when a setting names no constant
/// (with a suggestion).
ProfileConstants load_constants(const ProfileChoice& choice = {});

/// Gives one constant another value: "dram.read.noc1=190GB/s". Throws Error when there is no such
/// constant (with a suggestion), or when the value is not a number with a unit.
void set_constant(ProfileConstants& constants, const std::string& setting);

/// Interprets the constants. Throws Error when one is missing, is read by nobody, or has a wrong
/// unit or range. Throws a Contradiction when two contradict each other (contradictions.h).
Profiles read_profiles(const ProfileConstants& constants);

/// Returns the profiles of `choice`. Throws the Errors of load_constants() and read_profiles(),
/// which name the file and the constant.
Profiles load_profiles(const ProfileChoice& choice = {});

/// Returns whether every constant has its built-in default, whatever the profiles are called. Only
/// for that chip and that software are there published figures.
bool are_published(const Profiles& profiles);

}  // namespace howard::chip
