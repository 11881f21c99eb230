// SPDX-License-Identifier: Apache-2.0
#include "profiler/event_recorder.h"

#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <new>
#include <type_traits>

namespace howard::profiler {

// A std::vector would write every element once when it is made, and so touch all of its memory.
static_assert(std::is_trivially_copyable_v<TimelineEvent>);
static_assert(std::is_trivially_destructible_v<TimelineEvent>);

namespace {

/// Pages are 2 MB if the system gives them. Then memory is used for the first time every 32 768
/// events instead of every 64, and an event takes 7 ns instead of 40.
constexpr std::align_val_t kHugePage{std::size_t{2} << 20};

TimelineEvent* allocate(std::size_t capacity) {
  const std::size_t bytes = capacity * sizeof(TimelineEvent);
  void* const memory = ::operator new(bytes, kHugePage);
  // This is advice: without it everything works, more slowly.
  ::madvise(memory, bytes, MADV_HUGEPAGE);
  return static_cast<TimelineEvent*>(memory);
}

}  // namespace

EventRecorder::EventRecorder(std::size_t capacity)
    : capacity_(capacity), events_(allocate(capacity)) {}

EventRecorder::~EventRecorder() { ::operator delete(events_, kHugePage); }

void EventRecorder::record(const TimelineEvent& event) {
  const std::uint64_t index = recorded_.fetch_add(1, std::memory_order_relaxed);
  if (index < capacity_) std::construct_at(events_ + index, event);
}

std::span<const TimelineEvent> EventRecorder::events() const {
  return {events_, std::min<std::size_t>(recorded_.load(), capacity_)};
}

std::uint64_t EventRecorder::losses() const {
  const std::uint64_t recorded = recorded_.load();
  return recorded - std::min<std::uint64_t>(recorded, capacity_);
}

void EventRecorder::clear() { recorded_.store(0); }

}  // namespace howard::profiler
