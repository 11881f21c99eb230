// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/events/timeline_event.h"
#include "base/sim_time.h"

namespace howard::profiler {

struct Span {
  SimTime start;
  SimTime end;

  SimTime duration() const { return end - start; }
};

/// The number of a name in a `NameTable`. 0 is the empty name and means none.
using NameId = std::uint32_t;

/// Holds each different name once, so that a million programs of thirty ops hold thirty names and
/// are grouped by number.
class NameTable {
 public:
  NameTable() { static_cast<void>(id("")); }
  NameTable(NameTable&&) = default;
  NameTable& operator=(NameTable&&) = default;

  /// Returns the number of `name`, which is a new one if the name was not seen before.
  NameId id(std::string_view name);
  /// The result is valid as long as the table.
  std::string_view name(NameId id) const { return names_[id]; }
  std::size_t size() const { return names_.size(); }

 private:
  std::deque<std::string> names_;  ///< A deque never moves a string, so the keys can point there.
  std::unordered_map<std::string_view, NameId> ids_;
};

/// Describes a program that ran on a device: on the emulated chip, on the host engine or in a log
/// of real hardware. What a log does not hold is absent; nothing is guessed. All times are of one
/// clock.
struct ProgramRun {
  std::uint64_t number = 0;  ///< The launch's, rising in the order of the host's calls.
  NameId name = 0;           ///< The op: "matmul".
  NameId section = 0;        ///< The part of the run: a signpost, a phase, a step; 0: none.
  std::uint32_t trace = 0;   ///< The captured trace it was part of; 0: none, or unknown.
  std::uint32_t replay = 0;  ///< Which replay of that trace, from 1; 0: none, or unknown.
  std::uint32_t call = 0;    ///< Which of a log's different calls it was, from 1; 0: not known.
  std::uint16_t cores = 0;   ///< The cores that it ran on; 0: not known.
  bool compiled = false;     ///< The log says that its call had to compile it first.
  bool ran_before = false;   ///< Its call ran in the part of a log that is left out before it.
  std::uint16_t device = 0;
  std::uint16_t queue = 0;        ///< The command queue that launched it.
  std::uint16_t sub_device = 0;   ///< The sub-device on whose cores it ran.
  std::uint16_t host_thread = 0;  ///< The host thread that made the call.
  Span kernel;                    ///< The time from the first core's start to the last core's end.
  /// The time in which the dispatcher fetched it and wrote its configuration.
  std::optional<Span> dispatch;
  /// The host's call, until the command was in the issue queue. For a replay, it is the call for
  /// all its programs.
  std::optional<Span> host_call;
};

/// Says what the host, a dispatcher or a sub-device did besides launching and running programs.
enum class Occupation : std::uint8_t {
  finish,      ///< A host thread was in a finish, including its round trip.
  transfer,    ///< A host thread was in a blocking read or write of a buffer.
  queue_full,  ///< A host thread waited within a call until the issue queue had a free entry.
  profiler,    ///< A host thread or a sub-device was measuring, not working.
  /// A dispatcher waited for an event, of its own or another queue, that had not happened yet.
  event_wait,
};

struct Activity {
  Occupation occupation{};
  TrackKind place = TrackKind::host_thread;  ///< host_thread, dispatcher or sub_device.
  std::uint16_t device = 0;                  ///< It has no meaning for a host thread.
  std::uint16_t index = 0;  ///< The number of the thread, the queue or the sub-device.
  Span span;
};

/// Holds a recorded run as all analyses take it.
struct Timeline {
  NameTable names;
  std::vector<ProgramRun> programs;  ///< They are in any order.
  std::vector<Activity>
      activities;            ///< They are in any order; those of one place are apart or nested.
  std::uint64_t losses = 0;  ///< Events or rows that are missing here.
};

/// These are the categories of trace events of which a timeline is made. Spans of other categories,
/// and those of cores, are for viewers only.
namespace category {
inline constexpr std::string_view kKernel = "kernel";      ///< Lies on a sub-device or a queue.
inline constexpr std::string_view kDispatch = "dispatch";  ///< Lies on a dispatcher.
/// A call; it has the number of its first program.
inline constexpr std::string_view kHost = "host";
inline constexpr std::string_view kFinish = "finish";
inline constexpr std::string_view kTransfer = "transfer";
inline constexpr std::string_view kQueueFull = "queue full";  ///< Lies within a call.
inline constexpr std::string_view kProfiler = "profiler";
inline constexpr std::string_view kEventWait = "event wait";  ///< Lies on a dispatcher.
}  // namespace category

/// Makes the timeline of one device's recorded events. A program's queue is that of its dispatch,
/// or of its kernel if the device has no sub-devices. Its call is the last one whose first program
/// is not after it, so that the programs of a replay share one. A call that names a trace is the
/// next replay of that trace. Kernels whose dispatch or call was not recorded have none. Impossible
/// events are a bug of the device and stop the program.
Timeline timeline_of(std::span<const TimelineEvent> events, std::uint64_t losses = 0);

/// Does the same for events that were read from a file. Impossible ones are left for `defects_of`.
Timeline unchecked_timeline_of(std::span<const TimelineEvent> events, std::uint64_t losses);

enum class Defect : std::uint8_t {
  negative_duration,    ///< A span of the program, or an activity, ends before it starts.
  dispatched_too_soon,  ///< Dispatch starts before the host's call does.
  ran_too_soon,         ///< The kernel starts before the call does, or before the dispatch is over.
  partial_overlap,      ///< Two activities of one place overlap, neither within the other.
};

struct TimelineDefect {
  Defect defect{};
  bool of_activity = false;  ///< True if it is an activity, false if it is a program.
  std::size_t index = 0;     ///< An index into `activities` or `programs`.
};

/// Returns what cannot have happened, by index, activities after programs. The analyses need a
/// timeline without defects: readers of logs remove such entries and count them as losses. Programs
/// that overlap on a sub-device are not a defect, because the clocks of real cores differ a little.
std::vector<TimelineDefect> defects_of(const Timeline& timeline);

}  // namespace howard::profiler
