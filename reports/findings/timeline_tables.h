// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "profiler/formats/log.h"
#include "reports/tables/table.h"

namespace howard::reports {

/// Says how much of a run is shown: all, or what a reader looks at first: devices, ops and the
/// causes of idle time.
enum class TimelineDetail : std::uint8_t { all, brief };

/// Shows in tables where the time of a logged run went: devices, queues and sub-devices with what
/// kept them busy; the ops and the pairs of ops that took the most time, `top` of each; idle time
/// by cause, by length and by section; the zones of a device log; ops of the host. Tables without
/// rows are left out. `title` begins the captions. It needs a timeline without defects.
std::vector<Table> timeline_tables(const profiler::LoggedRun& run, std::string_view title,
                                   std::size_t top, TimelineDetail detail = TimelineDetail::all);

}  // namespace howard::reports
