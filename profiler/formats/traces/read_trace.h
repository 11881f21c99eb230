// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/events/timeline_event.h"
#include "profiler/formats/log.h"

namespace howard::profiler {

/// Holds a process of a trace that was read.
struct ReadProcess {
  std::string name;
  std::vector<TimelineEvent> events;  ///< Their texts live in the trace's names.
  std::uint64_t losses = 0;  ///< The file's own count; what could not be read is not among them.
  /// The names of its threads if they are not all names of Howard's writers. Each thread is then
  /// the sub-device of its place here.
  std::vector<std::string> threads;
};

struct ReadTrace {
  NameTable names;
  std::vector<ReadProcess>
      processes;  ///< They are in the order in which the file first names them.
};

/// Further events are counted as dropped, so memory has a bound (1 GB) whatever the size of the
/// file.
inline constexpr std::size_t kMostTraceEvents = 10'000'000;

/// Times beyond 26 days from zero are damage. Within that, no difference of two leaves SimTime's
/// range.
inline constexpr SimTime kLatestTraceTime = SimTime::picoseconds(std::int64_t{1} << 61);

/// Collects the spans of a trace of any format.
class TraceSpans {
 public:
  struct Span {
    std::uint32_t thread = 0;  ///< An index into `threads`.
    NameId name = 0;
    NameId category = 0;
    SimTime start, end;
    std::uint64_t program = 0;
    std::uint32_t trace = 0;
  };
  struct Thread {
    std::size_t process = 0;  ///< An index into `processes`.
    std::string name;
    std::vector<Span> open;  ///< The spans that have begun and not ended.
  };
  struct Process {
    std::string name;
    std::uint64_t losses = 0;
  };

  /// Sets the losses of a process whose label says "12 events lost"; any other label is ignored.
  void set_label(std::size_t process, std::string_view label);
  /// Keeps a span, or counts it as dropped if there are too many.
  void take(const Span& span, DroppedRows& dropped);
  /// Ends the span that was begun last, at `end`, and keeps it. Returns why it is rejected, or "".
  std::string_view end(Thread& thread, SimTime end, DroppedRows& dropped);

  /// Returns the processes with their events, on the tracks that their threads' names say.
  ReadTrace assemble(NameTable names, DroppedRows& dropped) const;

  std::vector<Process> processes;
  std::vector<Thread> threads;
  std::vector<Span> spans;
};

/// Makes a run of each process. For a trace that Howard wrote, the run is the timeline from which
/// it was written. For any other trace, each thread is a sub-device, and its programs are the spans
/// of the category "kernel" if the process has any, else the spans that lie in no other. `log`
/// already has what was dropped.
Log log_of(ReadTrace trace, Log log);

}  // namespace howard::profiler
