// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_node.h"
#include "engines/workload/workload.h"

namespace howard::workload {

/// A file of ops that a user writes names this schema; docs/workload_format.md describes its form.
inline constexpr const char* kOpListSchema = "howard.ops/1";

/// Returns the workload that a list of ops describes: its tensors are made and written, its steps
/// run as often as they say, and a finish comes at the end. Throws Error, naming the step, for
/// anything that is not such a list.
Workload workload_of_op_list(const JsonNode& root, const std::string& name);

// Both kinds of files have these values. They fail at `node` if it has something else.

/// Reads one to four dimensions, "64x64", of at most 2^40 elements.
Shape read_shape(std::string_view text, const JsonNode& node);
/// Reads "1024x512", followed in any order by a data type, a layout, l1, shards in L1
/// ("width:8x1:32x512") or in DRAM, or empty, if there is a place to say that.
TensorSpec read_spec(const JsonNode& node, bool* is_empty = nullptr);
/// Reads what dispatches: "worker" or "eth".
bool is_eth(const JsonNode& node);
/// Reads a list of [first column, first row, last column, last row].
std::vector<CoreRange> read_core_ranges(const JsonNode& node);

}  // namespace howard::workload
