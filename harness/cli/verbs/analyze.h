// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace howard::cli {

/// Prints where the time in profiler logs went: `run_experiment analyze FILE...`. Its manual is
/// analyze_help.md. `argv` begins with the word "analyze". Returns the exit code. A file that
/// cannot be read is reported on standard error and does not keep the others from being read.
/// Throws UsageError.
int analyze(int argc, const char* const* argv);

}  // namespace howard::cli
