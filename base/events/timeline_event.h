// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "base/events/program_facts.h"
#include "base/sim_time.h"

namespace howard {

/// The kinds of tracks on which events happen. One track never holds two overlapping spans.
enum class TrackKind : std::uint8_t {
  host_thread,    ///< `index` is the number of the thread.
  command_queue,  ///< `index` is the queue; its spans are the commands that it executes.
  dispatcher,  ///< `index` is the queue that it serves; its spans are prefetch and configuration.
  sub_device,  ///< `index` is the sub-device; its spans are the programs that its cores run.
  core,        ///< `index` is y * 256 + x in logical coordinates; `lane` is the RISC.
};

/// The part of a Tensix core a span belongs to (the kernels of one program run on all three).
enum class Lane : std::uint8_t { none, reader, compute, writer };

struct Track {
  TrackKind kind{};
  Lane lane = Lane::none;
  std::uint16_t index = 0;

  friend constexpr auto operator<=>(const Track&, const Track&) = default;
};

constexpr std::uint16_t core_index(int x, int y) { return static_cast<std::uint16_t>(y * 256 + x); }
constexpr int core_x(std::uint16_t index) { return index % 256; }
constexpr int core_y(std::uint16_t index) { return index / 256; }

/// One span on a track. `name` and `category` must have static storage duration, so that recording
/// an event copies two pointers and never allocates.
struct TimelineEvent {
  Track track;
  /// The trace's number, from 1, for a call that replays a trace; otherwise 0.
  std::uint32_t trace = 0;
  std::string_view name;      ///< What ran: "matmul", "dispatch", "finish".
  std::string_view category;  ///< Why the time passed: "host", "dispatch", "kernel", "transfer".
  SimTime start;
  SimTime end;  ///< Never before `start`.
  /// The number of the launch it belongs to, counted from 1; 0 if none.
  std::uint64_t program = 0;
};

/// Receives what happens on a device. A device holds a pointer to a sink, or null when nobody
/// listens; without a sink the cost is one branch. A sink never changes the result of a run.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void record(const TimelineEvent& event) = 0;
  /// Returns whether this sink wants descriptions of programs. If so, the device describes each
  /// program that it knows before the program's first event.
  virtual bool wants_facts() const { return false; }
  virtual void describe(std::uint64_t /*program*/, const ProgramFacts& /*facts*/) {}
};

}  // namespace howard
