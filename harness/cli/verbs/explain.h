// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace howard::cli {

/// `explain WHAT [OPTIONS]`, whose manual is explain_help.md; argv[0] is "explain". The exit
/// status. UsageError, or Error for a point that can not run.
int explain(int argc, const char* const* argv);

}  // namespace howard::cli
