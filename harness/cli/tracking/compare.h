// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/tracking/comparison/comparison.h"

namespace howard::cli {

/// Runs `compare A B [OPTIONS]` and returns the exit status. Its manual is compare_help.md, and
/// argv[0] is "compare". Throws UsageError, or Error for what cannot be read, run or compared.
int compare(int argc, const char* const* argv);

/// Returns the exit status that a comparison calls for; `strict` counts a baseline that is out of
/// date and rows that are ambiguous.
int status_of(const tracking::Comparison& comparison, bool strict);

}  // namespace howard::cli
