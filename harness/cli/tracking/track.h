// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace howard::cli {

/// Runs `track [RESULTS...] --db FILE` and returns the exit status. Its manual is track_help.md,
/// and argv[0] is "track". Throws UsageError, or Error for results or a database that cannot be
/// read or written.
int track(int argc, const char* const* argv);

}  // namespace howard::cli
