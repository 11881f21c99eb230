// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace howard::cli {

/// `compare A B [OPTIONS]`, whose manual is compare_help.md; argv[0] is "compare". The exit status.
/// UsageError, or Error for a file that can not be read.
int compare(int argc, const char* const* argv);

}  // namespace howard::cli
