// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/pipeline/dram_banks.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/check.h"
#include "base/wide.h"

namespace howard::chip {
namespace {

/// Returns `time` and the share `more` of it.
SimTime lengthened(SimTime time, TenThousandths more) {
  const Wide ps = static_cast<Wide>(time.ps()) * (kWhole + more) / kWhole;
  if (ps > std::numeric_limits<std::int64_t>::max()) throw_time_overflow();
  return SimTime::picoseconds(static_cast<std::int64_t>(ps));
}

/// Returns the largest of `counts` as a part of `all`.
TenThousandths largest_part(const std::vector<std::int64_t>& counts, std::int64_t all) {
  return ceil_div(std::ranges::max(counts) * kWhole, all);
}

/// Returns what marching in step adds to the time of spread cores, as a part of it.
TenThousandths crowding(const DramTraffic& traffic, const ChipProfile& chip) {
  const std::int64_t spread = kWhole / chip.dram_banks;
  const TenThousandths crowded = share_at_busiest_bank(traffic.runs, chip.dram_banks) - spread;
  const PageRuns& runs = traffic.runs;
  const std::int64_t pages = ceil_div(runs.units * runs.pages_per_unit, runs.cores);
  const std::int64_t in_step = std::min<std::int64_t>(pages, chip.dram_crowding_steps);
  // Readers that are alone spread over the banks at once: a page that was read leaves nothing in
  // its way.
  const std::int64_t moved = (traffic.reads + traffic.writes).value();
  const TenThousandths written = traffic.writes.value() * kWhole / std::max<std::int64_t>(1, moved);
  const TenThousandths blocked = std::min(kWhole, written * kWhole / chip.dram_blocking_writes);
  return std::max<std::int64_t>(0, crowded) * chip.dram_crowding / kWhole * in_step / pages *
         blocked / kWhole;
}

}  // namespace

TenThousandths share_at_busiest_bank(const PageRuns& runs, std::int64_t banks) {
  HOWARD_CHECK(runs.cores > 0 && banks > 0, "some core reads some bank");
  std::vector<std::int64_t> beginners(static_cast<std::size_t>(banks), 0);
  const std::int64_t each = runs.units / runs.cores;
  const std::int64_t more = runs.units % runs.cores;
  for (std::int64_t core = 0; core < runs.cores; ++core) {
    const std::int64_t first_unit = core * each + std::min(core, more);
    ++beginners[static_cast<std::size_t>(first_unit * runs.stride % banks)];
  }
  return largest_part(beginners, runs.cores);
}

SimTime banks_time(const DramTraffic& traffic, const ChipProfile& chip) {
  const SimTime spread = transfer_time(traffic.reads + traffic.writes, chip.dram_spread);
  const SimTime served = lengthened(spread, crowding(traffic, chip));
  return std::max({transfer_time(traffic.reads, chip.dram_read_noc0),
                   transfer_time(traffic.writes, chip.dram_write_noc1), served});
}

TenThousandths block_share_at_busiest_bank(std::int64_t rows, std::int64_t width,
                                           std::int64_t stride, std::int64_t banks) {
  HOWARD_CHECK(rows > 0 && width > 0 && banks > 0, "a block has pages");
  std::vector<std::int64_t> pages(static_cast<std::size_t>(banks), 0);
  // Rows repeat their banks after `banks` of them, and so do the pages of a row.
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t page = 0; page < std::min(width, banks); ++page) {
      const std::int64_t times = width / banks + (page < width % banks ? 1 : 0);
      pages[static_cast<std::size_t>((row * stride + page) % banks)] += times;
    }
  }
  return largest_part(pages, rows * width);
}

}  // namespace howard::chip
