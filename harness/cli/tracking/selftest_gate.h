// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace howard::cli {

/// Runs `selftest-gate [OPTIONS]` and returns the exit status. Its manual is selftest_gate_help.md,
/// and argv[0] is "selftest-gate". Throws UsageError, or Error for a suite that cannot be run.
int selftest_gate(int argc, const char* const* argv);

}  // namespace howard::cli
