// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/sim_time.h"
#include "base/units.h"

namespace howard {

/// The kinds of memory. L1 is counted as the device reports it: per core, or for all cores
/// together.
enum class MemoryKind : std::uint8_t {
  dram,  ///< The DRAM of an emulated device, or the memory of the host device.
  l1_buffer,
  l1_circular_buffer,  ///< A circular buffer of a program; it lives while the program runs.
};
inline constexpr std::size_t kMemoryKinds = 3;

/// Returns "DRAM", "L1 buffer" or "L1 circular buffer".
constexpr std::string_view name_of(MemoryKind kind) {
  constexpr std::string_view kNames[kMemoryKinds]{"DRAM", "L1 buffer", "L1 circular buffer"};
  return kNames[static_cast<std::size_t>(kind)];
}

enum class MemoryAction : std::uint8_t { allocate, release };

struct MemoryEvent {
  SimTime time;
  MemoryAction action{};
  MemoryKind kind{};
  std::uint64_t buffer = 0;  ///< Unique among the live buffers of its kind.
  /// A release ignores it: a buffer is released with the size that it was allocated with.
  Bytes size;
  std::string_view name;   ///< What it holds: "weights", "1024x512 bfloat16"; may be empty.
  std::string_view phase;  ///< "model", "optimizer", "forward", "backward"; may be empty.
};

/// Receives every allocation and release of a device, from the moment the device is opened. The
/// texts of an event are valid only during the call.
class MemorySink {
 public:
  virtual ~MemorySink() = default;
  virtual void record(const MemoryEvent& event) = 0;
};

}  // namespace howard
