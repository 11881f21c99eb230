// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "engines/wormhole/profiles/profile.h"
#include "harness/result.h"
#include "profiler/formats/log.h"
#include "profiler/silicon/silicon_comparison.h"

namespace howard::experiments {

/// Holds what is in a file that is to be analysed: a log, the results of a run, or, if a log is
/// compared with the emulator, the comparison.
using LogContent = std::variant<profiler::Log, std::vector<harness::ExperimentResult>,
                                profiler::SiliconComparison>;

/// Reads a file of any kind that profiler/formats/log_file.h names. The content decides its kind.
/// `emulated` is the chip and software with which an ops_perf_results CSV is compared; null if
/// nothing is compared. Error if the file cannot be read, if nothing in it ran, and for any other
/// kind that is to be compared.
LogContent read_log_content(const std::string& file, const wormhole::Profiles* emulated);

/// Returns the same as results: those of the file, of the comparison, or of reports::log_results().
/// `file` is its path, and `context` that of this run.
std::vector<harness::ExperimentResult> results_of(const LogContent& content,
                                                  const std::string& file,
                                                  const harness::RunContext& context);

}  // namespace howard::experiments
