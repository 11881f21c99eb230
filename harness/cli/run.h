// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/cli/run_options.h"
#include "harness/cli/sharing/ranks.h"

namespace howard::cli {

/// Runs the experiments that the options name, shows and writes their results, and returns the exit
/// status. All ranks call it; the first one prints. Throws UsageError for options that make no
/// sense together, before anything runs.
int run_experiments(RunOptions& options, Ranks& ranks);

}  // namespace howard::cli
