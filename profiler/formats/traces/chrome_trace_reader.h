// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/formats/csv/byte_source.h"
#include "profiler/formats/traces/read_trace.h"

namespace howard::profiler {

/// Reads the spans (complete events, and pairs of begin and end) of a trace. The trace may be an
/// object or a bare array, which may lack its end. Times are read exactly, to the picosecond.
/// Throws Error if it is not JSON or holds no span.
ReadTrace read_chrome_events(ByteSource& source, std::string_view name, DroppedRows& dropped,
                             std::vector<std::string>& notes);

/// Does the same and returns the trace as a log, as `log_of` makes it.
Log read_chrome_trace(ByteSource& source, std::string_view name);

}  // namespace howard::profiler
