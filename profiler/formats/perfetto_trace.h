// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "profiler/formats/chrome_trace.h"

namespace howard::profiler {

/// The events as a Perfetto trace (protobuf, ui.perfetto.dev): a process for each entry with a
/// track for each of its tracks, named and in order, and a counter of waiting commands for each
/// queue. Perfetto draws more of them, and faster, than of JSON. Times are whole nanoseconds since
/// the process began, the format's unit: rounded down, which keeps nested spans nested. Equal input
/// gives equal bytes; what the devices record wrongly stops the program, as for `chrome_trace`.
std::string perfetto_trace(std::span<const TraceProcess> processes);

}  // namespace howard::profiler
