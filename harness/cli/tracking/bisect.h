// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace howard::cli {

/// Runs `bisect NAME [OPTIONS]` and returns the exit status. Its manual is bisect_help.md, and
/// argv[0] is "bisect". Throws UsageError, or Error for a database, a checkout or a command that
/// fails.
int bisect(int argc, const char* const* argv);

}  // namespace howard::cli
