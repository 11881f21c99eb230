// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profiler/formats/log.h"

namespace howard::profiler {

/// Puts the host's calls of one device's programs, which are in order by start, on the device's
/// clock, and says in `device` how the clocks belong together. The calls' times are counted from
/// `host_origin`, nanoseconds of the host's clock. Calls that do not belong to the launch are
/// removed, as those of a replay that repeats the times of its capture. All are removed where the
/// clocks cannot be aligned, and `notes` then says why.
///
/// In a log that the emulator wrote, both clocks are one: no program starts before its call, and
/// the soonest within a millisecond, as the times stand. Nothing is fitted to such a log. The
/// clocks of a card and its host begin at different moments, seconds or hours apart.
void align_host_times(std::span<ProgramRun> programs, std::int64_t host_origin,
                      LoggedDevice& device, std::vector<std::string>& notes);

}  // namespace howard::profiler
