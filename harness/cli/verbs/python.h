// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace howard::cli {

/// Implements `run_experiment python SCRIPT`: runs a script for ttnn on the emulated chip and says
/// what its time went into. `argv` begins with "python". Throws UsageError for a bad command line.
int python(int argc, const char* const* argv);

}  // namespace howard::cli
