// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <optional>
#include <string>

#include "harness/cli/train/train_options.h"
#include "harness/result.h"
#include "profiler/memory.h"

namespace howard::cli {

/// Writes what a run leaves: with --results the result and `metrics`, as TTML writes it; the page,
/// with the memory of the first step if it was recorded; the files of -o. Says on standard error
/// what was written. Throws Error if a file cannot be written; those of -o are tried all the same.
void write_training_results(const TrainOptions& options, const harness::ExperimentResult& result,
                            const std::optional<profiler::MemoryUse>& memory,
                            const std::string& metrics);

/// Returns where the lines of the steps go: not where a form of the result goes.
std::FILE* lines_of(const TrainOptions& options);

}  // namespace howard::cli
