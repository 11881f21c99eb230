// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/bottleneck.h"
#include "profiler/critical_path.h"
#include "profiler/timeline.h"
#include "reports/tables/table.h"

namespace howard::reports {

/// Returns a row for each summary: its time, which part of it bounds it, the parts, and its
/// position under the roofline. `what` is "op" or "section". The table has the first `most`
/// summaries; its last row is the whole run.
Table bottleneck_table(const std::string& what, const std::vector<profiler::WorkSummary>& summaries,
                       const profiler::WorkSummary& all, std::size_t most);

/// Returns the kernel time of the whole run by the stage that limits it.
Table stages_table(const profiler::WorkSummary& all);

/// Returns each op's programs on and off the critical path, with the largest time on it first.
Table critical_path_table(const profiler::Timeline& timeline, const profiler::CriticalPath& path);

/// Returns all of these tables for one recorded run: its `top` ops, its stages, its critical path.
/// `title` begins the captions. Tables without rows are left out.
std::vector<Table> bottleneck_tables(const profiler::Timeline& timeline,
                                     std::span<const profiler::OpRun> runs, std::string_view title,
                                     std::size_t top);

}  // namespace howard::reports
