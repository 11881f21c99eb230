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

/// A log of real hardware beside the emulator, as tables: sums and errors by op, the last row being
/// all of them; the `top` calls that took the most time; what was not emulated, and why. Tables
/// without rows are left out. `title` begins the captions.
std::vector<Table> silicon_tables(const profiler::SiliconComparison& comparison,
                                  std::string_view title, std::size_t top);

/// The same for programs: a point for each call, with the metrics "emulated" and "measured" (the
/// median of its runs, which are the samples) and the measured time as its reference; and one
/// without metrics for what was not emulated. `log` is the file's name.
harness::ExperimentResult silicon_result(const profiler::SiliconComparison& comparison,
                                         const std::string& log,
                                         const harness::RunContext& context);

}  // namespace howard::reports
