// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "profiler/memory.h"

namespace howard::reports {

/// Returns the memory summary that TTML's MemoryUsageTracker prints: the phases under its names, in
/// MB of 2^20 bytes.
std::string ttml_memory_summary(const profiler::MemoryUse& use);

}  // namespace howard::reports
