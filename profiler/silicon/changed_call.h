// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "profiler/formats/ops_csv/ops_columns.h"

namespace howard::profiler {

// A log that was made to compare with an older one has the same work with other memory or another
// configuration. These functions find what is the same work, and say what is different.

/// Returns what stays the same when a call is tuned: its op, and the sizes of its operands and of
/// its result.
std::string work_of(const OpRow& call);

/// Returns what is different between two calls of the same work, each as "in1 DRAM interleaved ->
/// L1 width sharded", "HiFi4 -> HiFi2" or "in0_block_w 2 -> 8".
std::vector<std::string> differences(const OpRow& before, const OpRow& after);

}  // namespace howard::profiler
