// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "engines/chip/profiles/constants.h"
#include "engines/chip/profiles/costs.h"
#include "engines/program/program.h"

namespace howard::chip {

/// Says which cores run the dispatch kernels; this decides how many cores are left to compute.
enum class DispatchCoreType : std::uint8_t { worker, eth };

/// Returns "WORKER" or "ETH".
std::string_view name_of(DispatchCoreType type);

// constants() names the constants of the members, as in costs.h.

/// The constants of the chip.
struct ChipProfile {
  std::string name;
  std::string architecture;  // as tt-metal's logs call it
  Frequency aiclk;
  CoreGrid tensix;                 // all that compute or dispatch
  CoreGrid worker_grid, eth_grid;  // those that compute under WORKER and under ETH dispatch
  bool dispatch_takes_row = true;
  bool eth_dispatch = true;  // whether ethernet cores can dispatch
  bool multicasts_beside_reads = false;
  Bytes l1_circular_buffers;  // the part of l1.capacity that the software leaves
  Bytes dram_capacity;
  Bandwidth dram_bandwidth, dram_read_noc0, dram_read_noc1, dram_read_beside, dram_read_columns,
      dram_spread, dram_write_noc0, dram_write_noc1;
  int dram_banks = 1;
  std::int64_t dram_crowding = 0;  // in ten-thousandths, as are the next two
  std::int64_t dram_blocking_writes = 0, dram_head_start = 0;
  int dram_crowding_steps = 1;
  SimTime dram_request;
  Bandwidth noc_link, noc_multicast;
  Bandwidth l1_spread_read, l1_spread_write;  // of all cores together
  SimTime noc_read_latency, noc_write_latency, l1_latency, multicast_flush, noc_increment;
  std::int64_t matrix_flops_per_cycle = 0;
  Bandwidth unpack;
  bool unpackers_share = true;
  SimTime pack_accumulate_tile;
  Bandwidth pcie_write, pcie_read, remote_write, remote_read;
  SimTime link_latency;
  PowerCosts power;

  CoreGrid compute_grid(DispatchCoreType type) const;

  /// Returns why the chip cannot dispatch on such cores; absent if it can.
  std::optional<std::string> objection(DispatchCoreType type) const;

  /// Returns the time of one product of two tiles in the matrix unit, per fidelity pass.
  SimTime tile_pass() const;

  /// Returns the most operations per second that `cores` matrix units can do at `fidelity`.
  double peak_flops(int cores, MathFidelity fidelity) const;

  template <class Visitor>
  void constants(Visitor& visit) {
    visit("tensix.columns", tensix.columns);
    visit("tensix.rows", tensix.rows);
    visit("grid.eth.rows", eth_grid.rows);
    visit("grid.dispatch_takes_row", dispatch_takes_row);
    visit("grid.eth_dispatch", eth_dispatch);
    visit("l1.capacity", l1_circular_buffers);
    visit("dram.capacity", dram_capacity);
    visit("dram.bandwidth", dram_bandwidth);
    visit.share_of_dram("dram.read.noc0", dram_read_noc0);
    visit.share_of_dram("dram.read.noc1", dram_read_noc1);
    visit.share_of_dram("dram.read.beside", dram_read_beside);
    visit.share_of_dram("dram.read.columns", dram_read_columns);
    visit.share_of_dram("dram.spread", dram_spread);
    visit.share_of_dram("dram.write.noc0", dram_write_noc0);
    visit.share_of_dram("dram.write.noc1", dram_write_noc1);
    visit("dram.banks", dram_banks);
    visit("dram.crowding", dram_crowding);
    visit("dram.blocking_writes", dram_blocking_writes);
    visit("dram.head_start", dram_head_start);
    visit("dram.crowding_steps", dram_crowding_steps);
    visit("dram.request", dram_request);
    visit("noc.link", noc_link);
    visit("noc.multicast", noc_multicast);
    visit("noc.l1_spread_read", l1_spread_read);
    visit("noc.l1_spread_write", l1_spread_write);
    visit("noc.read_latency", noc_read_latency);
    visit("noc.write_latency", noc_write_latency);
    visit("noc.l1_latency", l1_latency);
    visit("noc.multicast_flush", multicast_flush);
    visit("noc.increment", noc_increment);
    visit("noc.multicast_beside_reads", multicasts_beside_reads);
    visit.count("matrix.flops_per_cycle", matrix_flops_per_cycle);
    visit("unpack.bandwidth", unpack);
    visit("unpack.shared", unpackers_share);
    visit("pack.accumulate_tile", pack_accumulate_tile);
    visit("pcie.write", pcie_write);
    visit("pcie.read", pcie_read);
    visit("remote.write", remote_write);
    visit("remote.read", remote_read);
    visit("link.latency", link_latency);
    power.constants(visit);
  }

  bool operator==(const ChipProfile&) const = default;
};

/// The constants of tt-metal, ttnn and the host that drives them.
struct SoftwareProfile {
  std::string name;
  std::string architecture;  // the chips whose kernels its constants describe
  SimTime host_op_call, host_allocation, host_python_call, host_graph_node, host_finish,
      host_capture, host_replay, host_mesh_chip, profiler_push, profiler_read;
  Bandwidth host_message;
  int most_command_queues = 0, most_sub_devices = 0;
  Bytes trace_region, trace_page;
  int issue_entries_worker = 0, issue_entries_eth = 0;
  Bytes l1_firmware;  // l1.firmware
  DispatchCosts dispatch;
  Bytes ttnn_binary_bytes, ttnn_matmul_binary_bytes;
  int ttnn_matmul_arguments = 0, ttnn_binary_arguments = 0, ttnn_unary_arguments = 0,
      ttnn_other_arguments = 0;
  TileCosts tiles;
  MovementCosts movement;
  ConvolutionCosts convolution;
  AttentionCosts attention;
  ChoiceCosts choice;
  CollectiveCosts collectives;
  ScriptTimes script;
  SimTime matmul_start, noc_read_issue, noc_shard_read_issue, matmul_tile_product,
      matmul_output_tile, minimal_matmul_handshake, dram_matmul_start, dram_matmul_block,
      matmul_next_product, matmul_next_multicast_product, matmul_reload, sparse_matmul_block;
  int matmul_transposed_unpack = 1;
  bool matmul_fuses_transposes = true, matmul_legacy_selection = true;

  int issue_entries(DispatchCoreType type) const;

  template <class Visitor>
  void constants(Visitor& visit) {
    visit.host_time("host.op_call", host_op_call);
    visit.host_time("host.allocation", host_allocation);
    visit.host_time("host.python_call", host_python_call);
    visit.host_time("host.graph_node", host_graph_node);
    visit.host_time("host.finish", host_finish);
    visit.host_time("host.capture_call", host_capture);
    visit.host_time("host.replay_call", host_replay);
    visit.host_time("host.mesh_chip", host_mesh_chip);
    visit("host.message", host_message);
    visit("profiler.push", profiler_push);
    visit.host_time("profiler.read", profiler_read);
    visit("queue.most", most_command_queues);
    visit("sub_device.most", most_sub_devices);
    visit("trace.region", trace_region);
    visit("trace.page", trace_page);
    visit("queue.issue_entries.worker", issue_entries_worker);
    visit("queue.issue_entries.eth", issue_entries_eth);
    visit("l1.firmware", l1_firmware);
    visit("ttnn.binary_bytes", ttnn_binary_bytes);
    visit("ttnn.matmul_binary_bytes", ttnn_matmul_binary_bytes);
    visit("ttnn.matmul_arguments", ttnn_matmul_arguments);
    visit("ttnn.binary_arguments", ttnn_binary_arguments);
    visit("ttnn.unary_arguments", ttnn_unary_arguments);
    visit("ttnn.other_arguments", ttnn_other_arguments);
    visit("matmul.start", matmul_start);
    visit("noc.read_issue", noc_read_issue);
    visit("noc.shard_read_issue", noc_shard_read_issue);
    visit("matmul.tile_product", matmul_tile_product);
    visit("matmul.output_tile", matmul_output_tile);
    visit("matmul.reload", matmul_reload);
    visit("sparse_matmul.block", sparse_matmul_block);
    visit("minimal_matmul.handshake", minimal_matmul_handshake);
    visit("dram_matmul.start", dram_matmul_start);
    visit("dram_matmul.block", dram_matmul_block);
    visit("matmul.next_product", matmul_next_product);
    visit("matmul.next_multicast_product", matmul_next_multicast_product);
    visit("matmul.transposed_unpack", matmul_transposed_unpack);
    visit("matmul.fuses_transposes", matmul_fuses_transposes);
    visit("matmul.legacy_selection", matmul_legacy_selection);
  }

  bool operator==(const SoftwareProfile&) const = default;
};

struct Card;

struct Profiles {
  ChipProfile chip;
  SoftwareProfile software;
  const Card* card = nullptr;  ///< What the user's card measured; null if no file says it.
};

/// Says what to read instead of the built-in defaults.
struct ProfileChoice {
  /// The names of built-in profiles, or files; at most one of each kind.
  std::vector<std::string> profiles;
  /// Single constants to replace, NAME=QUANTITY: "dram.read.noc1=190GB/s".
  std::vector<std::string> settings;

  bool is_default() const { return profiles.empty() && settings.empty(); }
};

/// Returns which kind of profile a name or a file is of: "chip", "software" or "card". Throws Error
/// if there is no such profile.
std::string kind_of(const std::string& name_or_file);

/// Returns the choices that `choice` makes of several chips, "a,b": one for each of them. A name of
/// a file may have a comma.
std::vector<ProfileChoice> each_chip(const ProfileChoice& choice);

/// The constants of two profiles as their files state them, with settings applied.
struct ProfileConstants {
  Constants chip, software;
  const Card* card = nullptr;
};

/// Returns the constants of `choice`. A card (card.h) chooses the chip and the software that it is
/// of, if none is chosen. Throws Error, naming the file, when a file is no profile or
/// has malformed constants, when two profiles are of one kind, when a card is of another chip or
/// software, or when a setting names no constant (with a suggestion).
ProfileConstants load_constants(const ProfileChoice& choice = {});

/// Gives one constant another value: "dram.read.noc1=190GB/s". Throws Error when there is no such
/// constant (with a suggestion), when the value is not a number with a unit, or when there is a
/// card, whose times follow no constant.
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
