// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "profiler/formats/log.h"

namespace howard::profiler {

/// Puts the host's calls of one device's programs, which are in order by start, on the device's
/// clock, and says in `device` how the clocks belong together. Calls that do not belong to the
/// launch are removed, as those of a replay that repeats the times of its capture. All are removed
/// where the clocks cannot be aligned, and `notes` then says why.
void align_host_times(std::span<ProgramRun> programs, LoggedDevice& device,
                      std::vector<std::string>& notes);

}  // namespace howard::profiler
