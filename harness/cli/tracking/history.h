// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace howard::cli {

/// Runs `history [NAME] --db FILE` and returns the exit status. Its manual is history_help.md, and
/// argv[0] is "history". Throws UsageError, or Error for a database that cannot be read.
int history(int argc, const char* const* argv);

}  // namespace howard::cli
