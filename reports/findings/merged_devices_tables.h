// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "profiler/formats/log.h"
#include "reports/tables/table.h"

namespace howard::reports {

/// Returns the ops of a run's devices as one device would have them, `top` of them: the longest
/// time of the devices (for collectives the mean), and how far apart the devices were. There is no
/// table for a single device. `title` begins the caption.
std::vector<Table> merged_devices_tables(const profiler::LoggedRun& run, std::string_view title,
                                         std::size_t top);

}  // namespace howard::reports
