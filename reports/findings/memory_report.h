// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "profiler/memory.h"
#include "reports/pictures/picture.h"
#include "reports/tables/table.h"

namespace howard::reports {

/// Returns the fields of TTML's MemoryUsageTracker, with a row for each phase.
Table memory_phases_table(const profiler::MemoryUse& use);

/// Returns the names that held the memory at its peak, by the phase that allocated them, the
/// largest first: DRAM, then L1. It has the `most` largest of each; the rest is one row.
Table memory_holders_table(const profiler::MemoryUse& use, std::size_t most);

/// Returns every buffer as CSV, in the order of allocation: memory, buffer, name, phase, bytes,
/// allocated and released in picoseconds of the device's clock. `released` is empty if the buffer
/// was live at the end.
std::string buffers_csv(const profiler::MemoryUse& use);

/// Draws NAME_memory under `title`: DRAM over time, and L1 if any was in use, with the phases. It
/// draws nothing without events.
PlotFiles write_memory_plot(const profiler::MemoryUse& use, const std::string& name,
                            const std::string& title, const Canvas& canvas);

}  // namespace howard::reports
