// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "engines/chip/kernels/plan/footprint.h"
#include "engines/chip/profiles/profile.h"
#include "engines/program/attributes.h"

namespace howard::chip {

/// Says how ttnn shares units of work (tiles, rows of tiles or columns of tiles) among the cores:
/// evenly, and if they do not divide, the first cores get one more. The busiest core decides how
/// long it takes.
struct WorkSplit {
  int cores = 0;             ///< How many cores have units.
  std::int64_t busiest = 0;  ///< The units of the busiest core.
  int kernel_groups = 1;  ///< Cores with one unit more than the others form a group of their own.
};

/// Implements ttnn's split_work_to_cores.
WorkSplit split_work(std::int64_t units, CoreGrid grid);

/// Says how ttnn's tilize and untilize cut a matrix of tiles into equal blocks, one for each core.
struct BlockSplit {
  std::int64_t rows = 1;     ///< The rows of tiles of a block.
  std::int64_t columns = 1;  ///< The tiles in a row of a block.
  int cores = 0;
};

/// Cuts `rows` x `columns` tiles into the smallest square blocks of which there are no more than
/// cores. Whole rows are dealt out instead, and nothing is returned, if rows have up to 32 tiles,
/// if there are no more than 32 rows and they are no longer than that many, or if whole rows keep
/// as many cores busy.
std::optional<BlockSplit> split_blocks(std::int64_t rows, std::int64_t columns, CoreGrid grid);

/// Returns the footprint of an op other than a matrix product: each group has a reader, a writer
/// and three compute binaries. `arguments` is the number of words for each core, for all its
/// kernels together.
Footprint op_footprint(int cores, int kernel_groups, int arguments, int circular_buffers,
                       const SoftwareProfile& software);

}  // namespace howard::chip
