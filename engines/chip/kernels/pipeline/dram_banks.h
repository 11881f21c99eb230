// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/sim_time.h"
#include "base/units.h"
#include "engines/chip/profiles/profile.h"

namespace howard::chip {

// Page i of an interleaved buffer lies in bank i mod dram.banks. What the banks give together
// depends on who asks which bank when: cores that begin at one bank march from bank to bank in
// step, and a page that waits for a busy bank on NoC 1 stops pages for idle ones. The method, and
// the simulation that the closed form is checked against, are in docs/method/matmul.md, "DRAM
// banks".

/// Says how ttnn deals contiguous runs of units out over cores.
struct PageRuns {
  std::int64_t units = 0;
  std::int64_t cores = 0;           ///< The cores that have units; at least 1.
  std::int64_t pages_per_unit = 1;  ///< In each stream; a row's length if rows are dealt out.
  std::int64_t stride = 1;          ///< From a unit's first page to the next unit's.
};

/// Parts of a whole, in ten-thousandths: integers, so that times are the same everywhere.
using TenThousandths = std::int64_t;
inline constexpr TenThousandths kWhole = 10'000;

/// Returns which part of all cores begins at the bank where most do: from a little more than that
/// of one bank, if they are spread evenly, to all.
TenThousandths share_at_busiest_bank(const PageRuns& runs, std::int64_t banks);

/// Describes what all cores of a kernel move; each reader and writer moves page by page.
struct DramTraffic {
  Bytes reads, writes;  ///< All cores together, over the kernel's whole time.
  PageRuns runs;
};

/// Returns the time that the banks need for it. It is the longest of what NoC 0 reads, what NoC 1
/// writes and what the banks serve of both. The last takes longer while cores march in step, which
/// they do for the first `dram.crowding_steps` pages of each.
SimTime banks_time(const DramTraffic& traffic, const ChipProfile& chip);

/// Returns which part of a block's pages lies in its busiest bank. The block has `rows` runs of
/// `width` pages, each run `stride` pages behind the one before.
TenThousandths block_share_at_busiest_bank(std::int64_t rows, std::int64_t width,
                                           std::int64_t stride, std::int64_t banks);

}  // namespace howard::chip
