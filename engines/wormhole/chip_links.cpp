// SPDX-License-Identifier: Apache-2.0
#include "engines/wormhole/chip_links.h"

#include <algorithm>

#include "base/check.h"

namespace howard::wormhole {

SimTime all_reduce_time(const CollectiveCosts& costs, int chips, int hops, Bytes size) {
  HOWARD_CHECK(chips >= 1 && hops >= chips - 1, "a line of chips has a link less than chips");
  if (chips == 1) return {};
  const Bytes sent(ceil_div(2 * (chips - 1) * size.value(), chips));
  return costs.start + costs.step * hops +
         transfer_time(sent, chips == 2 ? costs.pair : costs.line);
}

SimTime half_all_reduce_time(const CollectiveCosts& costs, int chips, int hops, Bytes size) {
  return SimTime::picoseconds(all_reduce_time(costs, chips, hops, size).ps() / 2);
}

Profiles behind_ethernet(Profiles profiles) {
  ChipProfile& chip = profiles.chip;
  chip.pcie_write = std::min(chip.pcie_write, chip.remote_write);
  chip.pcie_read = std::min(chip.pcie_read, chip.remote_read);
  profiles.software.host_finish += 2 * chip.link_latency;
  return profiles;
}

}  // namespace howard::wormhole
