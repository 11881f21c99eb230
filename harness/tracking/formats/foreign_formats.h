// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/json_node.h"
#include "harness/tracking/run.h"

namespace howard::tracking {

// These functions read what other benchmark programs write; inputs.h says what they take from it.
// Each throws Error, with the place and what is there, if the text breaks the rules of its format.

Run read_google_benchmark(const JsonNode& file);
Run read_hyperfine(const JsonNode& file);
Run read_nvbench(const JsonNode& file);
/// `source` names the file in messages.
Run read_ops_csv_run(std::string_view text, std::string_view source);

}  // namespace howard::tracking
