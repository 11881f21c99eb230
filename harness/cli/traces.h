// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <string>

#include "engines/wormhole/profile.h"
#include "harness/cli/options.h"
#include "harness/cli/session.h"

namespace howard::cli {

/// "emulated/shape:64x64x64" as a folder's name.
std::string folder_name(std::string point);

/// Writes what was recorded to where --trace and --device-logs say. What can not be written is
/// reported on standard error. Returns false when something could not be.
bool write_traces(const std::deque<TracedPoint>& points, const Options& options,
                  const wormhole::ChipProfile& chip);

}  // namespace howard::cli
