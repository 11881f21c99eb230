// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace howard::cli {

/// `run_experiment analyze FILE...`: prints where the time of profiler logs went; its manual is
/// analyze_help.md. `argv` begins with the word "analyze". Returns the exit code; a file that can
/// not be read is said on standard error and does not keep the others from being read. Error types:
/// UsageError.
int analyze(int argc, const char* const* argv);

}  // namespace howard::cli
