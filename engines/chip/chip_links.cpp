// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/chip_links.h"

#include <algorithm>

#include "base/check.h"
#include "engines/chip/kernels/collective/collective.h"
#include "engines/chip/kernels/pipeline/pages.h"
#include "engines/chip/kernels/plan/footprint.h"

namespace howard::chip {

SimTime all_reduce_time(const Profiles& profiles, int chips, int hops, Bytes size) {
  HOWARD_CHECK(chips >= 1 && hops >= chips - 1, "a line of chips has a link less than chips");
  if (chips == 1) return {};
  const ChipLine line{chips, hops, size};
  const CollectiveCosts& costs = profiles.software.collectives;
  const Footprint gather = collective_footprint(true, line, profiles);
  return reduce_scatter_time(costs, line) +
         go_time(gather, profiles.software, DispatchCoreType::worker) +
         all_gather_time(costs, line);
}

SimTime send_time(const Profiles& profiles, Bytes size) {
  // One worker reads a packet and hands it to the link while it reads the next one.
  const CollectiveCosts& costs = profiles.software.collectives;
  const SimTime packet = std::max(transfer_time(kLinkPacket, costs.gather_link),
                                  read_time(2, tile_bytes(DataType::bfloat16), profiles));
  return costs.gather_start + costs.gather_step +
         ceil_div(size.value(), kLinkPacket.value()) * packet;
}

SimTime message_time(const Profiles& profiles, Bytes size) {
  const ChipProfile& chip = profiles.chip;
  return 2 * (transfer_time(size, chip.pcie_read) + profiles.software.host_finish) +
         transfer_time(size, profiles.software.host_message) + transfer_time(size, chip.pcie_write);
}

Profiles of_mesh(Profiles profiles, int chips) {
  SoftwareProfile& software = profiles.software;
  software.host_op_call += (chips - 1) * software.host_mesh_chip;
  return profiles;
}

Profiles behind_ethernet(Profiles profiles) {
  ChipProfile& chip = profiles.chip;
  chip.pcie_write = std::min(chip.pcie_write, chip.remote_write);
  chip.pcie_read = std::min(chip.pcie_read, chip.remote_read);
  profiles.software.host_finish += 2 * chip.link_latency;
  return profiles;
}

}  // namespace howard::chip
