// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>

#include "engines/wormhole/profiles/profile.h"
#include "harness/cli/options.h"
#include "harness/cli/session.h"

namespace howard::cli {

/// Writes what was recorded to where --trace and --device-logs say, the logs of a point to
/// EXPERIMENT/POINT. What can not be written is
/// reported on standard error. Returns false when something could not be.
bool write_traces(const std::deque<TracedPoint>& points, const Options& options,
                  const wormhole::ChipProfile& chip);

}  // namespace howard::cli
