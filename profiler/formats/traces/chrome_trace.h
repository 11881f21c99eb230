// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "profiler/formats/traces/trace_process.h"

namespace howard::profiler {

struct ChromeTrace {
  std::string json;
  /// The losses of all processes; the file states them too, for each process and in sum.
  std::uint64_t losses = 0;
};

/// Writes the events in Chrome's JSON trace format, which Perfetto (ui.perfetto.dev),
/// chrome://tracing and speedscope read. There is a process for each entry, a thread for each
/// track, named and sorted from the host down to the cores, and a counter of waiting commands for
/// each queue. Times are microseconds since the process began, with six decimals, so that no
/// picosecond is lost.
///
/// The viewers draw a thread as a stack and misplace spans that overlap in part. A device that
/// records such spans on one track breaks the promise of `Track`, which is a bug and stops the
/// program here. Nested spans are fine.
ChromeTrace chrome_trace(std::span<const TraceProcess> processes);

}  // namespace howard::profiler
