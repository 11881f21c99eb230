// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace howard::cli {

inline constexpr std::string_view kGenerateVerb = "generate";

/// Writes text with a model's weights as the command line says, from the verb on, and returns the
/// exit status. Throws UsageError for a command line that is not understood; throws Error if a file
/// is bad.
int generate(int argc, const char* const* argv);

}  // namespace howard::cli
