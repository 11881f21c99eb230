// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "profiler/formats/log.h"
#include "reports/tables/table.h"

namespace howard::reports {

/// Shows what the cores of each op spent in the zones of a device log, `top` rows in each table:
/// the kernels of the RISCs, with what the compute kernel waited for, and the zones within kernels.
/// Tables without rows are left out. `title` begins the captions.
std::vector<Table> zone_tables(const profiler::LoggedRun& run, std::string_view title,
                               std::size_t top);

}  // namespace howard::reports
