// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sim_time.h"
#include "base/units.h"

namespace howard::profiler {

/// What is allocated where. L1 is counted as the recorder gives it: per core, or of all cores.
enum class MemoryKind : std::uint8_t {
  dram,
  l1_buffer,
  l1_circular_buffer,  ///< Of a program, as long as it runs.
};
inline constexpr std::size_t kMemoryKinds = 3;

/// "DRAM", "L1 buffer", "L1 circular buffer".
std::string_view name_of(MemoryKind kind);

enum class MemoryAction : std::uint8_t { allocate, release };

struct MemoryEvent {
  SimTime time;
  MemoryAction action{};
  MemoryKind kind{};
  std::uint64_t buffer = 0;  ///< Unique among the live buffers of its kind.
  Bytes size;                ///< Not looked at for a release: a buffer goes as it came.
  std::string_view name;     ///< What it holds: "weights", "activation"; may be empty.
  std::string_view phase;    ///< "model", "optimiser", "forward", "backward"; may be empty.
};

/// From allocation to release.
struct BufferLifetime {
  std::uint64_t buffer = 0;
  MemoryKind kind{};
  Bytes size;
  std::string name;
  std::string phase;  ///< In which it was allocated.
  SimTime allocated;
  std::optional<SimTime> released;  ///< Absent: still live at the end.
};

/// Events of one phase without others between: what TTML's MemoryUsageTracker calls a segment, with
/// its fields. The peak is over what was live when the phase began, so that
/// change = allocated - released, current = previous current + change, and
/// cumulative peak = previous current + peak.
struct MemoryPhase {
  std::string name;
  SimTime start;  ///< Of its first event; `end`: of its last.
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
    Bytes total_peak;  ///< Of both together: at most the sum, as they peak at different moments.
  };
  L1 l1;  ///< Absolute: what was live before counts.
};

/// What was live after an event.
struct MemoryPoint {
  SimTime time;
  Bytes dram;
  Bytes l1_buffers;
  Bytes l1_circular_buffers;

  Bytes l1() const { return l1_buffers + l1_circular_buffers; }
};

struct MemoryUse {
  std::vector<MemoryPhase> phases;
  std::vector<BufferLifetime> lifetimes;  ///< In the order of allocation.
  std::vector<MemoryPoint> curve;         ///< One per event.
  /// What was live when most of the memory was first in use, the largest first: into `lifetimes`.
  std::vector<std::size_t> dram_peak_holders;
  std::vector<std::size_t> l1_peak_holders;
  /// Events left out: releases of buffers that were allocated before the recording began, and
  /// allocations of live buffers.
  std::uint64_t unmatched = 0;

  MemoryPoint dram_peak() const;  ///< All zero without events, as is `l1_peak`.
  MemoryPoint l1_peak() const;
};

/// The events of one device; those at the same time happened in the given order. Sizes must not be
/// negative.
MemoryUse memory_use(std::span<const MemoryEvent> events);

}  // namespace howard::profiler
