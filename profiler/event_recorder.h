// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/events/timeline_event.h"

namespace howard::profiler {

/// Keeps the first `capacity` events and counts the others as losses, so that a profile may be cut
/// short, but never silently. Recording takes about 5 ns an event (7 ns if memory is used for the
/// first time), never allocates and may happen on several threads at once. The other functions need
/// the recording to be over (a finish, a join), and so does the device that was given the sink.
class EventRecorder final : public EventSink {
 public:
  /// This is 64 MB of address space at 64 bytes an event; memory is used only as events arrive.
  static constexpr std::size_t kDefaultCapacity = 1'000'000;

  explicit EventRecorder(std::size_t capacity = kDefaultCapacity);
  ~EventRecorder() override;
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  void record(const TimelineEvent& event) override;

  /// Returns what was kept, in the order of arrival.
  std::span<const TimelineEvent> events() const;
  /// Returns how many events came after the capacity was used up.
  std::uint64_t losses() const;
  /// Forgets the events and the losses. The memory is kept for the next recording.
  void clear();

 private:
  std::size_t capacity_;
  TimelineEvent* events_;  ///< Uninitialised beyond what was recorded.
  std::atomic<std::uint64_t> recorded_ = 0;
};

}  // namespace howard::profiler
