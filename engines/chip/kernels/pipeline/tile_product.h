// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/sim_time.h"
#include "base/units.h"
#include "engines/chip/profiles/profile.h"

namespace howard::chip {

/// A sub-block of the result in tiles, and the sizes of its factors' tiles.
struct SubBlock {
  std::int64_t height = 1, width = 1;
  Bytes in0_tile, in1_tile;
};

/// Returns the time in which the operands of one product of two tiles are unpacked. A sub-block
/// keeps one operand tile in the registers and streams the other past it: a wide one keeps A's and
/// streams B, a high one keeps B's (facts: docs/method/matmul.md, "Matmul cost"). Operands that do
/// not share the way from L1 come at the same time.
inline SimTime unpack_time(const SubBlock& block, const ChipProfile& chip) {
  const bool wide = block.width >= block.height;
  const std::int64_t reuse = std::max(block.height, block.width);
  const Bytes kept = wide ? block.in0_tile : block.in1_tile;
  const Bytes streamed = wide ? block.in1_tile : block.in0_tile;
  const Bytes moved =
      chip.unpackers_share ? kept + reuse * streamed : std::max(kept, reuse * streamed);
  return SimTime::picoseconds(ceil_div(transfer_time(moved, chip.unpack).ps(), reuse));
}

/// Returns what a step of K takes more for each of a sub-block's `tiles` if their partial sums go
/// to L1 and come back: they are packed, and copied into the registers before the products of the
/// next of `steps` are added to them. The first one has nothing to load.
inline SimTime spill_time(std::int64_t tiles, Bytes sum, std::int64_t steps,
                          const Profiles& profiles) {
  const SimTime moved = transfer_time(2 * sum, profiles.chip.unpack);
  const SimTime changed =
      SimTime::picoseconds(ceil_div(profiles.software.matmul_reload.ps(), tiles));
  return SimTime::picoseconds((moved + changed).ps() * (steps - 1) / steps);
}

}  // namespace howard::chip
