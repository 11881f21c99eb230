// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "engines/device/program.h"
#include "engines/wormhole/profiles/constants.h"

namespace howard::wormhole {

/// Says which cores run the dispatch kernels; this decides how many cores are left to compute.
enum class DispatchCoreType : std::uint8_t { worker, eth };

/// Returns "WORKER" or "ETH".
std::string_view name_of(DispatchCoreType type);

// profiles/*.json has the meaning, unit and source of each constant, under the name given here.

/// The constants of the chip.
struct ChipProfile {
  std::string name;
  Frequency aiclk;                          // clock.aiclk
  CoreGrid worker_grid;                     // tensix.columns, and tensix.rows less one
  CoreGrid eth_grid;                        // tensix.columns, grid.eth.rows
  Bytes l1_circular_buffers;                // the part of l1.capacity that the software leaves
  Bytes dram_capacity;                      // dram.capacity
  Bandwidth dram_bandwidth;                 // dram.bandwidth
  Bandwidth dram_read_noc0;                 // dram.read.noc0
  Bandwidth dram_read_noc1;                 // dram.read.noc1
  Bandwidth dram_spread;                    // dram.spread
  Bandwidth dram_write_noc0;                // dram.write.noc0
  Bandwidth dram_write_noc1;                // dram.write.noc1
  int dram_banks = 1;                       // dram.banks
  std::int64_t dram_crowding = 0;           // dram.crowding, in ten-thousandths
  int dram_crowding_steps = 1;              // dram.crowding_steps
  Bandwidth noc_link;                       // noc.link
  Bandwidth noc_multicast;                  // noc.multicast
  SimTime noc_read_latency;                 // noc.read_latency
  SimTime noc_write_latency;                // noc.write_latency
  SimTime l1_latency;                       // noc.l1_latency
  std::int64_t matrix_flops_per_cycle = 0;  // matrix.flops_per_cycle
  Bandwidth unpack;                         // unpack.bandwidth
  SimTime pack_accumulate_tile;             // pack.accumulate_tile
  Bandwidth pcie_write;                     // pcie.write
  Bandwidth pcie_read;                      // pcie.read
  Bandwidth remote_write;                   // remote.write
  Bandwidth remote_read;                    // remote.read
  SimTime link_latency;                     // link.latency

  CoreGrid compute_grid(DispatchCoreType type) const;

  /// Returns the time of one product of two tiles in the matrix unit, per fidelity pass.
  SimTime tile_pass() const;

  /// Returns the most operations per second that `cores` matrix units can do at `fidelity`.
  double peak_flops(int cores, MathFidelity fidelity) const;

  bool operator==(const ChipProfile&) const = default;
};

/// The costs of the dispatch kernels and the firmware (see footprint.h).
struct DispatchCosts {
  SimTime program;                // dispatch.program
  SimTime binary;                 // dispatch.binary
  Bandwidth write;                // dispatch.write
  SimTime configuration;          // dispatch.configuration
  SimTime core_arguments;         // dispatch.core_arguments
  SimTime group;                  // dispatch.group
  SimTime group_least;            // dispatch.group_least
  SimTime circular_buffer_group;  // dispatch.circular_buffer_group
  SimTime from_eth;               // dispatch.from_eth
  SimTime replay;                 // dispatch.replay
  SimTime go;                     // dispatch.go
  SimTime go_core;                // dispatch.go_core
  SimTime go_binary;              // dispatch.go_binary
  int launch_ring = 0;            // dispatch.launch_ring
  Bytes configuration_ring;       // dispatch.configuration_ring

  bool operator==(const DispatchCosts&) const = default;
};

/// The costs of ttnn's kernels that go from tile to tile (see tile_pipeline.h).
struct TileCosts {
  SimTime start;                  // tiles.start
  SimTime operand;                // tiles.operand
  SimTime multiply;               // tiles.multiply
  std::int64_t interference = 0;  // tiles.interference, in ten-thousandths
  SimTime store;                  // tiles.store
  SimTime fpu;                    // tiles.fpu
  SimTime simple;                 // tiles.simple
  SimTime reduce;                 // tiles.reduce
  SimTime transpose;              // tiles.transpose

  SimTime random;          // tiles.random
  SimTime gelu_backward;   // tiles.gelu_backward
  SimTime adamw;           // tiles.adamw
  SimTime pass;            // tiles.pass
  SimTime softmax_row;     // tiles.softmax_row
  SimTime softmax_start;   // tiles.softmax_start
  SimTime ttml_layernorm;  // tiles.ttml_layernorm

  /// The times of the elementwise functions; a function's entry in the catalogue names its
  /// constant.
  std::array<SimTime, kEltwiseFunctions> functions{};

  bool operator==(const TileCosts&) const = default;
};

/// The costs of ttnn's kernels that copy with a RISC (see movement_ops.cpp).
struct MovementCosts {
  SimTime face_line;  // movement.face_line
  SimTime segment;    // movement.segment
  SimTime mask;       // movement.mask

  bool operator==(const MovementCosts&) const = default;
};

/// The costs of ttnn's attention kernel besides its products (attention_op.cpp says of what).
struct AttentionCosts {
  SimTime exp;    // attention.exp
  SimTime max;    // attention.max
  SimTime sum;    // attention.sum
  SimTime chunk;  // attention.chunk

  bool operator==(const AttentionCosts&) const = default;
};

/// The costs of tt-metal's sum over several chips (chip_links.h says of what).
struct CollectiveCosts {
  SimTime start;   // all_reduce.start
  SimTime step;    // all_reduce.step
  Bandwidth pair;  // all_reduce.pair
  Bandwidth line;  // all_reduce.line

  bool operator==(const CollectiveCosts&) const = default;
};

/// The constants of tt-metal, ttnn and the host that drives them.
struct SoftwareProfile {
  std::string name;
  SimTime host_op_call;          // host.op_call
  SimTime host_allocation;       // host.allocation
  SimTime host_python_call;      // host.python_call
  SimTime host_graph_node;       // host.graph_node
  SimTime host_finish;           // host.finish
  SimTime host_capture;          // host.capture_call
  SimTime host_replay;           // host.replay_call
  SimTime profiler_push;         // profiler.push
  SimTime profiler_read;         // profiler.read
  int most_command_queues = 0;   // queue.most
  int most_sub_devices = 0;      // sub_device.most
  Bytes trace_region;            // trace.region
  Bytes trace_page;              // trace.page
  int issue_entries_worker = 0;  // queue.issue_entries.worker
  int issue_entries_eth = 0;     // queue.issue_entries.eth
  Bytes l1_firmware;             // l1.firmware
  DispatchCosts dispatch;
  Bytes ttnn_binary_bytes;         // ttnn.binary_bytes
  Bytes ttnn_matmul_binary_bytes;  // ttnn.matmul_binary_bytes
  int ttnn_matmul_arguments = 0;   // ttnn.matmul_arguments
  int ttnn_binary_arguments = 0;   // ttnn.binary_arguments
  int ttnn_unary_arguments = 0;    // ttnn.unary_arguments
  int ttnn_other_arguments = 0;    // ttnn.other_arguments
  TileCosts tiles;
  MovementCosts movement;
  AttentionCosts attention;
  CollectiveCosts all_reduce;
  SimTime matmul_start;                   // matmul.start
  SimTime matmul_read_issue;              // matmul.read_issue
  SimTime matmul_tile_product;            // matmul.tile_product
  SimTime matmul_output_tile;             // matmul.output_tile
  SimTime minimal_matmul_handshake;       // minimal_matmul.handshake
  SimTime matmul_next_product;            // matmul.next_product
  SimTime matmul_next_multicast_product;  // matmul.next_multicast_product
  int matmul_transposed_unpack = 1;       // matmul.transposed_unpack
  bool matmul_fuses_transposes = true;    // matmul.fuses_transposes

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

}  // namespace howard::wormhole
