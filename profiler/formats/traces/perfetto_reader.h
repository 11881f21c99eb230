// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/formats/csv/byte_source.h"
#include "profiler/formats/traces/read_trace.h"

namespace howard::profiler {

/// Returns whether a file that begins with `beginning` is a Perfetto trace, that is, consists of
/// packets.
bool is_perfetto_trace(std::string_view beginning);

/// Reads the spans of a Perfetto trace (protobuf), as `perfetto_trace` writes it. Of a trace by
/// another program it reads the spans that are begins and ends on described tracks. Damaged packets
/// and ends without a begin are counted as dropped; a file that breaks off is read as far as it
/// goes. Throws Error if it holds no span.
ReadTrace read_perfetto_events(ByteSource& source, std::string_view name, DroppedRows& dropped,
                               std::vector<std::string>& notes);

/// Does the same and returns the trace as a log, as `log_of` makes it.
Log read_perfetto_trace(ByteSource& source, std::string_view name);

}  // namespace howard::profiler
