// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace howard::cli {

inline constexpr std::string_view kFitVerb = "fit";

/// Says what a training run of TTML's files would take. It follows the command line from the verb
/// on, and returns the exit status. Throws UsageError for a command line that is not understood;
/// throws Error for bad files.
int fit(int argc, const char* const* argv);

}  // namespace howard::cli
