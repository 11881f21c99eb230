// SPDX-License-Identifier: Apache-2.0
#include "profiler/memory_recorder.h"

namespace howard::profiler {

void MemoryRecorder::open(std::string_view phase) {
  events_.clear();
  losses_ = 0;
  names_ = NameTable();
  begin_phase(phase);
  open_ = true;
}

void MemoryRecorder::record(const MemoryEvent& event) {
  if (!open_) return;
  if (events_.size() == capacity_) {
    ++losses_;
    return;
  }
  events_.push_back({.time = event.time,
                     .action = event.action,
                     .kind = event.kind,
                     .buffer = event.buffer,
                     .size = event.size,
                     .name = names_.id(event.name),
                     .phase = event.phase.empty() ? unnamed_ : names_.id(event.phase)});
}

MemoryUse MemoryRecorder::use() const {
  std::vector<MemoryEvent> events;
  events.reserve(events_.size());
  for (const Kept& kept : events_) {
    events.push_back({kept.time, kept.action, kept.kind, kept.buffer, kept.size,
                      names_.name(kept.name), names_.name(kept.phase)});
  }
  MemoryUse use = memory_use(events);
  use.losses = losses_;
  return use;
}

}  // namespace howard::profiler
