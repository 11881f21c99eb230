// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder.h"

#include <algorithm>
#include <memory>
#include <type_traits>

namespace howard::profiler {

// A std::vector would write every element once when it is made, and so use all of its memory.
static_assert(std::is_trivially_copyable_v<TraceEvent>);
static_assert(std::is_trivially_destructible_v<TraceEvent>);

Recorder::Recorder(std::size_t capacity)
    : capacity_(capacity), events_(std::allocator<TraceEvent>().allocate(capacity)) {}

Recorder::~Recorder() { std::allocator<TraceEvent>().deallocate(events_, capacity_); }

void Recorder::record(const TraceEvent& event) {
  const std::uint64_t index = recorded_.fetch_add(1, std::memory_order_relaxed);
  if (index < capacity_) std::construct_at(events_ + index, event);
}

std::span<const TraceEvent> Recorder::events() const {
  return {events_, std::min<std::size_t>(recorded_.load(), capacity_)};
}

std::uint64_t Recorder::losses() const {
  const std::uint64_t recorded = recorded_.load();
  return recorded - std::min<std::uint64_t>(recorded, capacity_);
}

void Recorder::clear() { recorded_.store(0); }

}  // namespace howard::profiler
