// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "profiler/formats/traces/chrome_trace.h"

namespace howard::profiler {

/// Writes the events as a Perfetto trace (protobuf, ui.perfetto.dev). There is a process for each
/// entry with a track for each of its tracks, named and in order, and a counter of waiting commands
/// for each queue. Perfetto can draw more of these events than of JSON, and faster. Times are whole
/// nanoseconds since the process began, which is the format's unit; they are rounded down, which
/// keeps nested spans nested. Equal input gives equal bytes. Wrong recordings stop the program, as
/// for `chrome_trace`.
std::string perfetto_trace(std::span<const TraceProcess> processes);

}  // namespace howard::profiler
