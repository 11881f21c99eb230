// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "base/program_facts.h"
#include "base/sim_time.h"

namespace howard {

/// Where something happens. One track never holds two overlapping spans.
enum class TrackKind : std::uint8_t {
  host_thread,    ///< `index`: the thread.
  command_queue,  ///< `index`: the queue; spans of the commands it is executing.
  dispatcher,     ///< `index`: the queue it serves; prefetch and configuration.
  sub_device,     ///< `index`: the sub-device; spans of the programs its cores run.
  core,           ///< `index`: y * 256 + x in logical coordinates; `lane`: the RISC.
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

/// One span. `name` and `category` must have static storage duration: recording an event copies
/// two pointers and never allocates.
struct TraceEvent {
  Track track;
  std::uint32_t trace = 0;    ///< Of a call that replays: the trace's number, from 1; 0: none.
  std::string_view name;      ///< What ran: "matmul", "dispatch", "finish".
  std::string_view category;  ///< Why the time passed: "host", "dispatch", "kernel", "transfer".
  SimTime start;
  SimTime end;                ///< Never before `start`.
  std::uint64_t program = 0;  ///< Which launch it belongs to, counted from 1; 0: none.
};

/// Receives what happens on a device. Devices hold a pointer to one, null when nobody listens: the
/// cost is then one branch, and the result of a run is the same either way.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void record(const TraceEvent& event) = 0;
  /// Whether it wants to be told what programs are; a device then describes each before its first
  /// event, if it knows.
  virtual bool wants_facts() const { return false; }
  virtual void describe(std::uint64_t /*program*/, const ProgramFacts& /*facts*/) {}
};

}  // namespace howard
