// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

#include "base/json_node.h"
#include "harness/tracking/run.h"

namespace howard::tracking {

// These functions read what the benchmark tools of languages other than C++ write; inputs.h says
// what they take from it. Each throws Error, with the place and what is there, if the text breaks
// the rules of its format.

Run read_pytest_benchmark(const JsonNode& file);
/// Reads a list of objects with name, value and unit, as github-action-benchmark takes it.
Run read_named_values(const JsonNode& list);
/// Reads the messages of cargo criterion, one a line. `source` names the file in messages.
Run read_criterion_lines(std::string_view text, std::string_view source);
/// Reads one estimates.json of criterion; its benchmark is named by the folders of `source`.
Run read_criterion_estimates(const JsonNode& file, std::string_view source);
/// Reads a folder of criterion: each benchmark's newest measurement in it.
Run read_criterion_folder(const std::filesystem::path& folder);
/// Returns whether criterion has written into the folder.
bool is_criterion_folder(const std::filesystem::path& folder);
/// Returns whether the text is what Go's benchmarks print.
bool is_go_text(std::string_view text);
Run read_go_text(std::string_view text, std::string_view source);

}  // namespace howard::tracking
