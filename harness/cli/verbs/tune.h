// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace howard::cli {

/// `tune -a m=M -a k=K -a n=N [OPTIONS]`, whose manual is tune_help.md; argv[0] is "tune". The exit
/// status. Throws UsageError, or Error for a product that cannot run.
int tune(int argc, const char* const* argv);

}  // namespace howard::cli
