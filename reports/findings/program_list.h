// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/sim_time.h"
#include "harness/result.h"
#include "profiler/formats/log.h"
#include "reports/findings/log_advice_report.h"
#include "reports/tables/table.h"

namespace howard::reports {

/// Says which programs of a log are listed.
struct ProgramFilter {
  std::string op;       ///< A part of the op's name, in small or large letters; "" for all.
  SimTime longer_than;  ///< Kernels that took more.
};

/// Returns the programs of a run in the order in which they began, the first `most` of those that
/// pass the filter, with the time before each, what they are of, and what bounds their calls.
/// `title` begins the caption.
Table program_table(const profiler::Log& log, std::size_t run, const LogAdvice& advice,
                    const ProgramFilter& filter, std::string_view title, std::size_t most);

/// Returns the result log_programs: a point for each program that passes, with the metrics start,
/// time and gap.
harness::ExperimentResult program_result(const profiler::Log& log,
                                         const std::vector<LogAdvice>& advice,
                                         const ProgramFilter& filter, const std::string& name,
                                         const harness::RunContext& context);

}  // namespace howard::reports
