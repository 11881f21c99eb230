// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/events/program_facts.h"
#include "base/events/timeline_event.h"
#include "profiler/dispatch_gaps.h"
#include "profiler/tracks.h"

namespace howard::profiler {

/// Holds what is drawn as one process of a trace: one point of an experiment.
struct TraceProcess {
  std::string name;  ///< "emulated/shape:1024x1024x1024/dispatch:worker".
  std::span<const TimelineEvent>
      events;                ///< They are in any order; no two of a track overlap in part.
  std::uint64_t losses = 0;  ///< The number of events that happened and are not in `events`.
  /// Returns what a program is, or null if the device did not say; empty if nobody knows.
  std::function<const ProgramFacts*(std::uint64_t program)> facts = {};
};

/// Holds something that a viewer shows beside a span.
struct SpanNote {
  std::string_view name;  ///< "flops".
  std::variant<std::uint64_t, std::string> value;
};

/// Says how many commands of a queue the host has issued and the dispatcher has not yet taken.
struct QueueLevel {
  /// The time since the trace began from which the number holds, until the next one.
  SimTime time;
  std::int64_t waiting = 0;
};

/// Says what the chip waited for before a program.
struct GapBefore {
  SimTime length;
  CauseTimes causes;  ///< They add up to the length.
};

/// Shows a process as both trace formats do. Its time begins at 0, and spans of kernels say what
/// they computed and what the chip waited for before them.
class TraceView {
 public:
  explicit TraceView(const TraceProcess& process);

  const std::map<Track, TrackEvents, ReadingOrder>& tracks() const { return tracks_; }
  /// Returns the levels by queue, in order, if the events tell when commands were issued and taken.
  const std::map<std::uint16_t, std::vector<QueueLevel>>& queues() const { return queues_; }
  /// Returns a time of an event, counted from the start of the first one.
  SimTime since_start(SimTime time) const { return time - origin_; }
  /// Returns no notes for spans other than those of kernels on a sub-device or a queue.
  std::vector<SpanNote> notes_of(const TimelineEvent& event) const;
  /// Returns the gap before the kernel of a program on a sub-device or a queue; null if it has
  /// none.
  const GapBefore* gap_before(const TimelineEvent& event) const;

 private:
  /// Holds the corners of the rectangle that contains the cores of a program.
  struct Cores {
    int left, top, right, bottom;
  };

  void find_cores(std::span<const TimelineEvent> events);
  void explain(const TraceProcess& process);

  const TraceProcess& process_;
  SimTime origin_;
  std::map<Track, TrackEvents, ReadingOrder> tracks_;
  std::map<std::uint16_t, std::vector<QueueLevel>> queues_;
  std::unordered_map<std::uint64_t, Cores> cores_;
  std::unordered_map<std::uint64_t, GapBefore> gaps_;  ///< Keys are the programs behind the gaps.
};

/// Returns "command queue 0: commands waiting".
std::string name_of_level(std::uint16_t queue);

}  // namespace howard::profiler
