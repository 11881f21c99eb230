// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "profiler/formats/csv/byte_source.h"
#include "profiler/formats/log.h"

namespace howard::profiler {

// tt-metal's real-time profiler (since April 2026) gives a program's start and end to a callback
// and writes no file. Its users write the records, one JSON object a line, with the record's
// members: runtime_id (program_id before), chip_id, start and end (also start_timestamp and
// end_timestamp) in ticks, frequency in ticks a nanosecond, kernel_sources. A member "lost" counts
// records that the callback was told to be lost.

/// Says whether a line is such a record.
bool is_realtime_record(std::string_view line);

/// Reads them. An op is named after its compute kernel, or else its first. Damaged lines are left
/// out and counted. Throws Error as read_ops_csv() does for a range.
Log read_realtime_records(ByteSource& source, const ReadOptions& options);

}  // namespace howard::profiler
