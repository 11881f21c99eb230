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

/// Says what a run of a log spent on which call, and what would make it faster.
struct LogAdvice {
  std::vector<profiler::CallUse> uses;
  std::vector<profiler::LogFinding> findings;
};

/// Returns the advice of each run of a log whose calls were read. `emulator` is that of
/// uses_of_calls().
std::vector<LogAdvice> advice_of(const profiler::Log& log, profiler::CallEmulator* emulator);

/// Returns the calls by time beside the peaks of the chip and the emulator, and the findings, `top`
/// of each. If there are no findings, a table says that there is nothing to gain. `title` begins
/// the captions.
std::vector<Table> advice_tables(const LogAdvice& advice, std::string_view title, std::size_t top);

/// Returns the advice for programs to read, from the runs of the log `name`: log_calls has a point
/// for each call, and log_advice a point for each finding. A result without points is left out.
std::vector<harness::ExperimentResult> advice_results(const std::vector<LogAdvice>& advice,
                                                      const std::string& name,
                                                      const harness::RunContext& context);

}  // namespace howard::reports
