// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace howard::cli {

/// Runs `compare A B [OPTIONS]` and returns the exit status. Its manual is compare_help.md, and
/// argv[0] is "compare". UsageError, or Error for a file that cannot be read.
int compare(int argc, const char* const* argv);

}  // namespace howard::cli
