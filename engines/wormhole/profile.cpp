// SPDX-License-Identifier: Apache-2.0
#include "engines/wormhole/profile.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/file.h"
#include "engines/wormhole/constants.h"
#include "engines/wormhole/profiles.h"

namespace howard::wormhole {
namespace {

ChipProfile read_chip(Constants constants) {
  const Frequency clock = constants.frequency("clock.aiclk");
  ChipProfile chip{
      .name = constants.name(),
      .aiclk = clock,
      .worker_grid = {constants.count("grid.worker.columns"), constants.count("grid.worker.rows")},
      .eth_grid = {constants.count("grid.eth.columns"), constants.count("grid.eth.rows")},
      .l1_circular_buffers = constants.bytes("l1.circular_buffers"),
      .dram_capacity = constants.bytes("dram.capacity"),
      .dram_read_noc0 = constants.bandwidth("dram.read.noc0", clock),
      .dram_read_noc1 = constants.bandwidth("dram.read.noc1", clock),
      .dram_write_noc0 = constants.bandwidth("dram.write.noc0", clock),
      .dram_write_noc1 = constants.bandwidth("dram.write.noc1", clock),
      .noc_link = constants.bandwidth("noc.link", clock),
      .noc_multicast = constants.bandwidth("noc.multicast", clock),
      .noc_read_latency = constants.time("noc.read_latency", clock),
      .noc_write_latency = constants.time("noc.write_latency", clock),
      .matrix_flops_per_cycle = constants.count("matrix.flops_per_cycle"),
      .matrix_tile_pass = constants.time("matrix.tile_pass", clock),
      .unpack = constants.bandwidth("unpack.bandwidth", clock),
      .pack_accumulate_tile = constants.time("pack.accumulate_tile", clock),
      .pcie_write = constants.bandwidth("pcie.write", clock),
      .pcie_read = constants.bandwidth("pcie.read", clock),
  };
  constants.require_all_read();
  return chip;
}

/// `clock` is the chip's: the kernels' own costs are cycles of its cores.
SoftwareProfile read_software(Constants constants, Frequency clock) {
  SoftwareProfile software{
      .name = constants.name(),
      .host_op_call = constants.time("host.op_call"),
      .host_finish = constants.time("host.finish"),
      .worker = {.issue_queue_entries = constants.count("queue.issue_entries.worker"),
                 .program = constants.time("dispatch.program.worker", clock)},
      .eth = {.issue_queue_entries = constants.count("queue.issue_entries.eth"),
              .program = constants.time("dispatch.program.eth", clock)},
      .launch_ring = constants.count("dispatch.launch_ring"),
      .dispatch_go = constants.time("dispatch.go", clock),
      .matmul_start = constants.time("matmul.start", clock),
      .matmul_read_issue = constants.time("matmul.read_issue", clock),
      .matmul_tile_product = constants.time("matmul.tile_product", clock),
      .matmul_output_tile = constants.time("matmul.output_tile", clock),
  };
  constants.require_all_read();
  return software;
}

Constants load(const std::string& file, std::string_view built_in, std::string_view kind) {
  if (file.empty()) return Constants::parse(built_in_profile(built_in), built_in, kind);
  return Constants::parse(read_file(file), file, kind);
}

}  // namespace

std::string_view name_of(DispatchCoreType type) {
  return type == DispatchCoreType::worker ? "WORKER" : "ETH";
}

CoreGrid ChipProfile::compute_grid(DispatchCoreType type) const {
  return type == DispatchCoreType::worker ? worker_grid : eth_grid;
}

double ChipProfile::peak_flops(int cores, MathFidelity fidelity) const {
  return static_cast<double>(cores) * static_cast<double>(matrix_flops_per_cycle) /
         static_cast<double>(fidelity) * static_cast<double>(aiclk.value());
}

const SoftwareProfile::Dispatch& SoftwareProfile::dispatch(DispatchCoreType type) const {
  return type == DispatchCoreType::worker ? worker : eth;
}

Profiles load_profiles(const std::string& chip_file, const std::string& software_file) {
  Profiles profiles;
  profiles.chip = read_chip(load(chip_file, kDefaultChipProfile, "chip"));
  profiles.software =
      read_software(load(software_file, kDefaultSoftwareProfile, "software"), profiles.chip.aiclk);
  return profiles;
}

}  // namespace howard::wormhole
