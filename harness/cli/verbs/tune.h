// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace howard::cli {

/// Runs `tune -a m=M -a k=K -a n=N [OPTIONS]` and returns the exit status. Its manual is
/// tune_help.md, and argv[0] is "tune". Throws UsageError, or Error for a product that cannot run.
int tune(int argc, const char* const* argv);

}  // namespace howard::cli
