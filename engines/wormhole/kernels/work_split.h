// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engines/device/attributes.h"
#include "engines/wormhole/dispatch/footprint.h"
#include "engines/wormhole/profiles/profile.h"

namespace howard::wormhole {

/// How ttnn deals units of work (tiles, rows or columns of tiles) out over the cores: evenly, the
/// first cores one more where they do not divide. The busiest core decides how long it takes.
struct WorkSplit {
  int cores = 0;             ///< That have units.
  std::int64_t busiest = 0;  ///< Units of the core that has most.
  int kernel_groups = 1;     ///< Cores with a unit more than the others are a group of their own.
};

/// ttnn's split_work_to_cores.
WorkSplit split_work(std::int64_t units, CoreGrid grid);

/// Of an op that is no matrix product: a reader, a writer and three compute binaries a group.
/// `arguments`: words a core, of all its kernels together.
Footprint op_footprint(int cores, int kernel_groups, int arguments, int circular_buffers,
                       const SoftwareProfile& software);

}  // namespace howard::wormhole
