// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/formats/byte_source.h"
#include "profiler/formats/read_trace.h"

namespace howard::profiler {

/// The spans (complete events, and pairs of begin and end) of a trace, as an object or as a bare
/// array, which may lack its end. Times are read exactly, to the picosecond. Error when it is not
/// JSON, or holds no span.
ReadTrace read_chrome_events(ByteSource& source, std::string_view name, DroppedRows& dropped,
                             std::vector<std::string>& notes);

/// As above, as `log_of` takes it.
Log read_chrome_trace(ByteSource& source, std::string_view name);

}  // namespace howard::profiler
