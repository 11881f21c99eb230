// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/plan/work_split.h"

#include <algorithm>

namespace howard::chip {

WorkSplit split_work(std::int64_t units, CoreGrid grid) {
  const auto cores = static_cast<int>(std::min<std::int64_t>(units, grid.cores()));
  return {.cores = cores,
          .busiest = ceil_div(units, cores),
          .kernel_groups = units > cores && units % cores != 0 ? 2 : 1};
}

std::optional<BlockSplit> split_blocks(std::int64_t rows, std::int64_t columns, CoreGrid grid) {
  constexpr std::int64_t kLongRow = 32;  // threshold_row_block in ttnn
  if (columns <= kLongRow || (rows <= kLongRow && columns <= rows)) return std::nullopt;
  const auto blocks = [&](std::int64_t side) {
    return ceil_div(rows, side) * ceil_div(columns, side);
  };
  std::int64_t side = 1;
  while (blocks(side) > grid.cores()) ++side;
  if (blocks(side) <= split_work(rows, grid).cores) return std::nullopt;
  return BlockSplit{
      .rows = std::min(rows, side), .columns = side, .cores = static_cast<int>(blocks(side))};
}

Footprint op_footprint(int cores, int kernel_groups, int arguments, int circular_buffers,
                       const SoftwareProfile& software) {
  constexpr int kBinaries = 5;
  return {.cores = cores,
          .kernel_groups = kernel_groups,
          .binaries = kBinaries,
          .binary_bytes = software.ttnn_binary_bytes,
          .circular_buffers = circular_buffers,
          .unique_arguments = arguments};
}

}  // namespace howard::chip
