// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace howard::cli {

/// Runs `report DIR [OPTIONS]` and returns the exit status. Its manual is report_help.md, and
/// argv[0] is "report". Throws UsageError, or Error for a folder or file that cannot be read.
int report(int argc, const char* const* argv);

}  // namespace howard::cli
