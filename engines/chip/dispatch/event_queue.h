// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "base/check.h"
#include "base/sim_time.h"

namespace howard::chip {

/// Names what can happen in the chip, in the order in which simultaneous events are handled: work
/// that ends comes first, because it frees what starting work needs.
enum class EventKind : std::uint8_t {
  kernel_done,      ///< All cores of a program have reported completion.
  config_written,   ///< The dispatcher has written a program's configuration to its cores.
  replay_fetched,   ///< The dispatcher has the first part of a trace.
  command_visible,  ///< A command of the host has arrived in the issue queue.
};

struct Event {
  SimTime time;
  EventKind kind{};
  std::uint64_t sequence = 0;  ///< The number of its insertion, which breaks ties.
  std::size_t subject = 0;     ///< The sub-device or command queue that it concerns.
  /// Distinguishes the successive ends scheduled for a kernel; only the last one counts.
  std::uint64_t generation = 0;
};

/// Future events in a total order: by time, then by kind, then by insertion. Two runs with the same
/// inputs therefore take the same path on every machine.
class EventQueue {
 public:
  bool empty() const { return heap_.empty(); }
  const Event& next() const { return heap_.front(); }
  SimTime now() const { return now_; }  ///< The time of the event taken last.

  /// Passing a time before now() is a bug: nothing may be scheduled into the past.
  void schedule(SimTime time, EventKind kind, std::size_t subject, std::uint64_t generation) {
    HOWARD_CHECK(time >= now_, "an event lies in the future");
    heap_.push_back({time, kind, next_sequence_++, subject, generation});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }

  Event take() {
    HOWARD_CHECK(!heap_.empty(), "there is an event to take");
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Event event = heap_.back();
    heap_.pop_back();
    now_ = event.time;
    return event;
  }

 private:
  static bool later(const Event& a, const Event& b) {
    return std::tuple(a.time, a.kind, a.sequence) > std::tuple(b.time, b.kind, b.sequence);
  }

  std::vector<Event> heap_;
  SimTime now_;
  std::uint64_t next_sequence_ = 0;
};

}  // namespace howard::chip
