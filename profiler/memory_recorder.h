// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/events/memory_event.h"
#include "profiler/memory.h"
#include "profiler/timeline.h"

namespace howard::profiler {

/// Keeps the first `capacity` events that it gets while it is open, and counts the others as
/// losses. It serves one thread's device only.
class MemoryRecorder final : public MemorySink {
 public:
  static constexpr std::size_t kDefaultCapacity = 1'000'000;

  explicit MemoryRecorder(std::size_t capacity = kDefaultCapacity) : capacity_(capacity) {}

  /// Forgets everything and listens. `phase` is used for events whose device does not name one.
  void open(std::string_view phase);
  /// Sets the phase, from now on, of events whose device does not name one.
  void begin_phase(std::string_view phase) { unnamed_ = names_.id(phase); }
  void close() { open_ = false; }

  void record(const MemoryEvent& event) override;

  MemoryUse use() const;

 private:
  struct Kept {
    SimTime time;
    MemoryAction action{};
    MemoryKind kind{};
    std::uint64_t buffer = 0;
    Bytes size;
    NameId name = 0;
    NameId phase = 0;
  };

  std::size_t capacity_;
  std::vector<Kept> events_;
  std::uint64_t losses_ = 0;
  NameTable names_;
  NameId unnamed_ = 0;
  bool open_ = false;
};

}  // namespace howard::profiler
