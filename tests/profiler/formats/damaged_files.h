// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/formats/log_file.h"

namespace howard::profiler::testing {

/// Reads `text` as a log of `kind`, analyses what is found and shows each run to `look`. Damaged
/// files may give Errors; anything else that goes wrong, such as a crash or a timeline with
/// defects, ends the program. The fuzzers and the test use it.
void read_as(
    LogKind kind, std::string_view text,
    const std::function<void(const LoggedRun&)>& look = [](const LoggedRun&) {});

/// Returns whole files of every kind, which are to be damaged.
std::vector<std::string> whole_files();

}  // namespace howard::profiler::testing
