// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "profiler/silicon/log_advice.h"

namespace howard::profiler {

/// Returns "12.30 us".
std::string us(SimTime time);

/// Returns what the host made one device wait for, by what could be done about it.
std::vector<LogFinding> host_findings(const std::vector<ProgramRun>& programs,
                                      const BusyLane& lane);

}  // namespace howard::profiler
