// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "harness/tracking/run.h"
#include "reports/formats/json_node.h"

namespace howard::tracking {

// These functions read what other benchmark programs write; inputs.h says what they take from it.
// Each throws Error, with the place and what is there, if the text breaks the rules of its format.

Run read_google_benchmark(const reports::JsonNode& file);
Run read_hyperfine(const reports::JsonNode& file);
Run read_nvbench(const reports::JsonNode& file);
/// `source` names the file in messages.
Run read_ops_csv_run(std::string_view text, std::string_view source);

}  // namespace howard::tracking
