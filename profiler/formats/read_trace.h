// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/trace_event.h"
#include "profiler/formats/log.h"

namespace howard::profiler {

/// A process of a trace that was read.
struct ReadProcess {
  std::string name;
  std::vector<TraceEvent> events;  ///< Their texts live in the trace's names.
  std::uint64_t losses = 0;        ///< As the file says; what could not be read is not among them.
  /// The names of its threads when they are not all those that Howard's writers give; each thread
  /// is then the sub-device of its place here.
  std::vector<std::string> threads;
};

struct ReadTrace {
  NameTable names;
  std::vector<ReadProcess> processes;  ///< In the order in which the file first names them.
};

/// More events are counted as dropped: memory has a bound (1 GB) whatever the size of the file.
inline constexpr std::size_t kMostTraceEvents = 10'000'000;

/// Times beyond 26 days from zero are damage; within, no difference of two leaves SimTime's range.
inline constexpr SimTime kLatestTraceTime = SimTime::picoseconds(std::int64_t{1} << 61);

/// What a reader collects of a trace, whatever its format.
class TraceSpans {
 public:
  struct Span {
    std::uint32_t thread = 0;  ///< Into `threads`.
    NameId name = 0;
    NameId category = 0;
    SimTime start, end;
    std::uint64_t program = 0;
    std::uint32_t trace = 0;
  };
  struct Thread {
    std::size_t process = 0;  ///< Into `processes`.
    std::string name;
    std::vector<Span> open;  ///< Begun and not ended.
  };
  struct Process {
    std::string name;
    std::uint64_t losses = 0;
  };

  /// Of the process whose label says "12 events lost"; any other label says nothing.
  void set_label(std::size_t process, std::string_view label);
  /// Keeps a span, or counts it as dropped when there are too many.
  void take(const Span& span, DroppedRows& dropped);
  /// Ends the span that was begun last, at `end`, and keeps it. Returns why it is rejected, or "".
  std::string_view end(Thread& thread, SimTime end, DroppedRows& dropped);

  /// The processes with their events, on the tracks that their threads' names say.
  ReadTrace assemble(NameTable names, DroppedRows& dropped) const;

  std::vector<Process> processes;
  std::vector<Thread> threads;
  std::vector<Span> spans;
};

/// A run for each process. Of a trace that Howard wrote, the timeline it was written from. Of any
/// other: each thread is a sub-device, and its programs are the spans of the category "kernel"
/// where the process has some, else the spans that lie in no other. `log` has what was dropped.
Log log_of(ReadTrace trace, Log log);

}  // namespace howard::profiler
