// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>

#include "engines/chip/profiles/profile.h"
#include "harness/cli/run_options.h"
#include "harness/cli/session.h"

namespace howard::cli {

/// Writes the recordings to the places that --trace and --device-logs name; the logs of a point go
/// to EXPERIMENT/POINT. A file that cannot be written is reported on standard error. Returns false
/// if there was one.
bool write_traces(const std::deque<TracedPoint>& points, const RunOptions& options,
                  const chip::ChipProfile& chip);

}  // namespace howard::cli
