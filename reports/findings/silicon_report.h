// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "harness/result.h"
#include "profiler/silicon/silicon_comparison.h"
#include "reports/tables/table.h"

namespace howard::reports {

/// Says what the column "rests on" of emulated times means.
inline constexpr std::string_view kRestsOn =
    "rests on: what there is of measured kernels like the emulated ones: measured by you, this "
    "call "
    "on your card; learnt from your card, others there; calibrated, several of the kind; "
    "interpolated, a few; one kernel; by analogy, none: the time is predicted";

/// Shows a log of real hardware beside the emulator in tables: sums and errors by op, where the
/// last row is all of them; the `top` calls that took the most time; and what was not emulated, and
/// why. Tables without rows are left out. `title` begins the captions.
std::vector<Table> silicon_tables(const profiler::SiliconComparison& comparison,
                                  std::string_view title, std::size_t top);

/// Returns the same for programs. Each call is a point with the metrics "emulated" and "measured"
/// (the median of its runs, which are the samples) and the measured time as its reference. What was
/// not emulated is a point without metrics. `log` is the file's name.
harness::ExperimentResult silicon_result(const profiler::SiliconComparison& comparison,
                                         const std::string& log,
                                         const harness::RunContext& context);

}  // namespace howard::reports
