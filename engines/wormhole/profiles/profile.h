// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "engines/device/program.h"
#include "engines/wormhole/profiles/constants.h"

namespace howard::wormhole {

/// Which cores run the dispatch kernels, and so how many are left to compute.
enum class DispatchCoreType : std::uint8_t { worker, eth };

/// "WORKER", "ETH".
std::string_view name_of(DispatchCoreType type);

// Meaning, unit and source of each constant stand in profiles/*.json, under the name given here.

/// The silicon.
struct ChipProfile {
  std::string name;
  Frequency aiclk;                          // clock.aiclk
  CoreGrid worker_grid;                     // tensix.columns, and a row less than tensix.rows
  CoreGrid eth_grid;                        // tensix.columns, grid.eth.rows
  Bytes l1_circular_buffers;                // what the software leaves of l1.capacity
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
  std::int64_t matrix_flops_per_cycle = 0;  // matrix.flops_per_cycle
  Bandwidth unpack;                         // unpack.bandwidth
  SimTime pack_accumulate_tile;             // pack.accumulate_tile
  Bandwidth pcie_write;                     // pcie.write
  Bandwidth pcie_read;                      // pcie.read
  Bandwidth remote_write;                   // remote.write
  Bandwidth remote_read;                    // remote.read
  SimTime link_latency;                     // link.latency

  CoreGrid compute_grid(DispatchCoreType type) const;

  /// One product of two tiles in the matrix unit, per fidelity pass.
  SimTime tile_pass() const;

  /// The most operations per second `cores` matrix units can do at `fidelity`.
  double peak_flops(int cores, MathFidelity fidelity) const;

  bool operator==(const ChipProfile&) const = default;
};

/// What the dispatch kernels and the firmware cost (footprint.h says of what).
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

/// What ttnn's kernels that go from tile to tile cost (tile_pipeline.h says of what).
struct TileCosts {
  SimTime start;                  // tiles.start
  SimTime operand;                // tiles.operand
  SimTime multiply;               // tiles.multiply
  std::int64_t interference = 0;  // tiles.interference, in ten-thousandths
  SimTime store;                  // tiles.store
  SimTime fpu;                    // tiles.fpu
  SimTime simple;                 // tiles.simple
  SimTime exp;                    // tiles.exp
  SimTime erf;                    // tiles.erf
  SimTime gelu;                   // tiles.gelu
  SimTime sqrt;                   // tiles.sqrt
  SimTime reciprocal;             // tiles.reciprocal
  SimTime rsqrt;                  // tiles.rsqrt
  SimTime reduce;                 // tiles.reduce
  SimTime transpose;              // tiles.transpose

  SimTime random;          // tiles.random
  SimTime gelu_backward;   // tiles.gelu_backward
  SimTime adamw;           // tiles.adamw
  SimTime pass;            // tiles.pass
  SimTime softmax_row;     // tiles.softmax_row
  SimTime softmax_start;   // tiles.softmax_start
  SimTime ttml_layernorm;  // tiles.ttml_layernorm

  bool operator==(const TileCosts&) const = default;
};

/// What ttnn's kernels that copy with a RISC cost (movement_ops.cpp says of what).
struct MovementCosts {
  SimTime face_line;  // movement.face_line
  SimTime segment;    // movement.segment
  SimTime mask;       // movement.mask

  bool operator==(const MovementCosts&) const = default;
};

/// What tt-metal's sum over several chips costs (chip_links.h says of what).
struct CollectiveCosts {
  SimTime start;   // all_reduce.start
  SimTime step;    // all_reduce.step
  Bandwidth pair;  // all_reduce.pair
  Bandwidth line;  // all_reduce.line

  bool operator==(const CollectiveCosts&) const = default;
};

/// tt-metal, ttnn and the host that drives them.
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
  CollectiveCosts all_reduce;
  SimTime matmul_start;                   // matmul.start
  SimTime matmul_read_issue;              // matmul.read_issue
  SimTime matmul_tile_product;            // matmul.tile_product
  SimTime matmul_output_tile;             // matmul.output_tile
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

/// What to read instead of the built-in defaults.
struct ProfileChoice {
  /// Names of built-in profiles or files, at most one of each kind.
  std::vector<std::string> profiles;
  /// NAME=QUANTITY, replacing single constants: "dram.read.noc1=190GB/s".
  std::vector<std::string> settings;

  bool is_default() const { return profiles.empty() && settings.empty(); }
};

/// The constants of two profiles as they stand in their files, settings applied.
struct ProfileConstants {
  Constants chip, software;
};

/// The constants of `choice`. Error, naming the file, when a profile is none or has malformed
/// constants; when two are of one kind; when a setting names no constant (with a suggestion).
ProfileConstants load_constants(const ProfileChoice& choice = {});

/// Gives one constant another value: "dram.read.noc1=190GB/s". Error, with a suggestion, when there
/// is no such constant, or no number and unit.
void set_constant(ProfileConstants& constants, const std::string& setting);

/// What the constants say. Error when one is missing or read by nobody, or has a wrong unit or
/// range; a Contradiction when two contradict each other (contradictions.h).
Profiles read_profiles(const ProfileConstants& constants);

/// The profiles of `choice`. Error, naming file and constant, when a profile is none, misses a
/// constant, has one that nobody reads, or has a wrong unit or range; when two are of one kind;
/// when a setting names no constant (with a suggestion); when two constants contradict each other.
Profiles load_profiles(const ProfileChoice& choice = {});

/// Whether every constant is that of the built-in defaults, whatever the profiles are called: only
/// of that chip and that software are there published figures.
bool are_published(const Profiles& profiles);

}  // namespace howard::wormhole
