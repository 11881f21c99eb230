// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/result.h"
#include "profiler/silicon/log_advice.h"
#include "reports/tables/table.h"

namespace howard::reports {

/// Holds a call that had to be compiled, by PROGRAM CACHE HIT.
struct CacheMiss {
  std::string op, operands;
  std::uint64_t runs = 0;
  std::uint64_t misses = 0;  ///< The runs that were compiled before; one is the least.
  SimTime waited;            ///< What the devices waited before these runs.
};

/// Says what a run of a log spent on which call, and what would make it faster.
struct LogAdvice {
  std::vector<profiler::CallUse> uses;
  std::vector<profiler::LogFinding> findings;
  std::vector<CacheMiss> misses;  ///< What was waited for the longest comes first.
};

/// Returns the advice of each run of a log whose calls were read. `emulator` is that of
/// uses_of_calls().
std::vector<LogAdvice> advice_of(const profiler::Log& log, profiler::CallEmulator* emulator);

/// Returns the findings, the calls by time beside the peaks of the chip and the emulator, `top` of
/// each, the time by kind of work, and the misses of the program cache. If there are no findings, a
/// table says that there is nothing to gain. `title` begins the captions.
std::vector<Table> advice_tables(const LogAdvice& advice, std::string_view title, std::size_t top);

/// Returns the findings alone.
Table finding_table(const LogAdvice& advice, std::string_view title, std::size_t top);

/// Returns the advice for programs to read, from the runs of the log `name`: log_calls has a point
/// for each call, and log_advice a point for each finding. A result without points is left out.
std::vector<harness::ExperimentResult> advice_results(const std::vector<LogAdvice>& advice,
                                                      const std::string& name,
                                                      const harness::RunContext& context);

}  // namespace howard::reports
