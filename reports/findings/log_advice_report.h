// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "harness/result.h"
#include "profiler/silicon/log_advice.h"
#include "reports/tables/table.h"

namespace howard::reports {

/// What a run of a log spent on which call, and what would make it faster.
struct LogAdvice {
  std::vector<profiler::CallUse> uses;
  std::vector<profiler::LogFinding> findings;
};

/// The advice of each run of a log whose calls were read. `emulator` as for uses_of_calls().
std::vector<LogAdvice> advice_of(const profiler::Log& log, profiler::CallEmulator* emulator);

/// The calls by time beside the peaks of the chip and the emulator, and the findings, `top` of
/// each. Without findings a table says that there is nothing to gain. `title` begins the captions.
std::vector<Table> advice_tables(const LogAdvice& advice, std::string_view title, std::size_t top);

/// The same for programs, all of it, of the runs of the log `name`: log_calls, a point for each
/// call, and log_advice, a point for each finding; those without points are left out.
std::vector<harness::ExperimentResult> advice_results(const std::vector<LogAdvice>& advice,
                                                      const std::string& name,
                                                      const harness::RunContext& context);

}  // namespace howard::reports
