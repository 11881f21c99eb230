// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace howard::cli {

/// Runs `explain WHAT [OPTIONS]` and returns the exit status. Its manual is explain_help.md, and
/// argv[0] is "explain". Throws UsageError, or Error for a point that cannot run.
int explain(int argc, const char* const* argv);

}  // namespace howard::cli
