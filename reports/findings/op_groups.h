// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/timeline.h"

namespace howard::reports {

/// Sums up the runs of one op or of one section.
struct OpGroup {
  profiler::NameId name = 0;
  std::uint64_t runs = 0;
  SimTime time, shortest, longest;  ///< Times of the kernels.
};

/// Returns the programs of a timeline by the names of `member`, with the largest time first.
std::vector<OpGroup> group_programs(const profiler::Timeline& timeline,
                                    profiler::NameId profiler::ProgramRun::*member);

/// Returns an op's name without "DeviceOperation" or "Operation" at its end.
std::string_view brief_name(std::string_view op);

SimTime total_time(std::span<const OpGroup> groups);

}  // namespace howard::reports
