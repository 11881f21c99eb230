// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/events/memory_event.h"
#include "base/sim_time.h"
#include "base/units.h"

namespace howard::profiler {

/// Describes a buffer from allocation to release.
struct BufferLifetime {
  std::uint64_t buffer = 0;
  MemoryKind kind{};
  Bytes size;
  std::string name;
  std::string phase;  ///< The phase in which it was allocated.
  SimTime allocated;
  std::optional<SimTime> released;  ///< Absent if it was still live at the end.
};

/// Sums up consecutive events of one phase. TTML's MemoryUsageTracker calls this a segment and has
/// the same fields. The peak counts from what was live when the phase began, so that change =
/// allocated - released, current = previous current + change, and cumulative peak = previous
/// current + peak.
struct MemoryPhase {
  std::string name;
  SimTime start;  ///< The time of its first event; `end` is that of its last.
  SimTime end;

  struct Dram {
    Bytes peak;  ///< Zero or more.
    Bytes allocated;
    Bytes released;
    Bytes cumulative_peak;
    Bytes cumulative_current;

    Bytes change() const { return allocated - released; }
  };
  Dram dram;

  struct L1 {
    Bytes circular_buffers_peak;
    Bytes buffers_peak;
    /// The peak of both together: at most the sum, as they peak at different moments.
    Bytes total_peak;
  };
  L1 l1;  ///< Absolute: what was live before counts.
};

/// Says what was live after an event.
struct MemoryPoint {
  SimTime time;
  Bytes dram;
  Bytes l1_buffers;
  Bytes l1_circular_buffers;

  Bytes l1() const { return l1_buffers + l1_circular_buffers; }
};

struct MemoryUse {
  std::vector<MemoryPhase> phases;
  std::vector<BufferLifetime> lifetimes;  ///< They are in the order of allocation.
  std::vector<MemoryPoint> curve;         ///< One per event.
  /// The indices into `lifetimes` of what was live when most of the memory was first in use, the
  /// largest first.
  std::vector<std::size_t> dram_peak_holders;
  std::vector<std::size_t> l1_peak_holders;
  /// The number of events that were left out: releases of buffers that were allocated before the
  /// recording began, and allocations of live buffers.
  std::uint64_t unmatched = 0;
  std::uint64_t losses = 0;  ///< The number of events for which a recorder had no room.

  MemoryPoint dram_peak() const;  ///< All zero without events; so is `l1_peak`.
  MemoryPoint l1_peak() const;
};

/// Analyses the events of one device. Events at the same time happened in the given order. Sizes
/// must not be negative.
MemoryUse memory_use(std::span<const MemoryEvent> events);

}  // namespace howard::profiler
