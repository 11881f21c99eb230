// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/formats/log_file.h"

namespace howard::profiler::testing {

/// Reads `text` as a log of `kind`, analyses what is found and shows each run to `look`. Errors are
/// what damaged files are for; anything else that goes wrong ends the program: a crash, a timeline
/// with defects. The same for the fuzzers and for the test.
void read_as(
    LogKind kind, std::string_view text,
    const std::function<void(const LoggedRun&)>& look = [](const LoggedRun&) {});

/// Whole files of every kind, to be damaged.
std::vector<std::string> whole_files();

}  // namespace howard::profiler::testing
