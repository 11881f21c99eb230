// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/trace_event.h"
#include "profiler/formats/byte_source.h"
#include "profiler/formats/log.h"

namespace howard::profiler {

/// A process of a trace in Chrome's JSON format.
struct ReadProcess {
  std::string name;
  std::vector<TraceEvent> events;  ///< Their texts live in the trace's names.
  std::uint64_t losses = 0;        ///< As the file says; what could not be read is not among them.
  /// The names of its threads when they are not all those that `chrome_trace` writes; each thread
  /// is then the sub-device of its place here.
  std::vector<std::string> threads;
};

struct ReadTrace {
  NameTable names;
  std::vector<ReadProcess> processes;  ///< In the order in which the file first names them.
};

/// More events are counted as dropped: memory has a bound (1 GB) whatever the size of the file.
inline constexpr std::size_t kMostTraceEvents = 10'000'000;

/// The spans (complete events, and pairs of begin and end) of a trace, as an object or as a bare
/// array, which may lack its end. Times are read exactly, to the picosecond. Error when it is not
/// JSON, or holds no span.
ReadTrace read_chrome_events(ByteSource& source, std::string_view name, DroppedRows& dropped,
                             std::vector<std::string>& notes);

/// A run for each process. Of a trace that Howard wrote, the very timeline it was written from. Of
/// any other: each thread is a sub-device, and its programs are the spans of the category "kernel"
/// where the process has some, else the spans that lie in no other. Error as above.
Log read_chrome_trace(ByteSource& source, std::string_view name);

}  // namespace howard::profiler
