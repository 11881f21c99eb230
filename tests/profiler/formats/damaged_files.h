// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace howard::profiler::testing {

/// Reads `text` as what it seems to be, and as every kind of log; analyses and prints what is
/// found. Errors are what damaged files are for; anything else that goes wrong ends the program: a
/// crash, a timeline with defects. The same for the fuzzer and for the test.
void read_as_everything(std::string_view text);

/// Whole files of every kind, to be damaged.
std::vector<std::string> whole_files();

}  // namespace howard::profiler::testing
