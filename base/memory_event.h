// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/sim_time.h"
#include "base/units.h"

namespace howard {

/// What is allocated where. L1 is counted as the device gives it: per core, or of all cores.
enum class MemoryKind : std::uint8_t {
  dram,  ///< The host device's memory too.
  l1_buffer,
  l1_circular_buffer,  ///< Of a program, as long as it runs.
};
inline constexpr std::size_t kMemoryKinds = 3;

/// "DRAM", "L1 buffer", "L1 circular buffer".
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
  Bytes size;                ///< Not looked at for a release: a buffer goes as it came.
  std::string_view name;     ///< What it holds: "weights", "1024x512 bfloat16"; may be empty.
  std::string_view phase;    ///< "model", "optimiser", "forward", "backward"; may be empty.
};

/// Receives what a device allocates and releases, from its opening on. The texts of an event live
/// for the call only.
class MemorySink {
 public:
  virtual ~MemorySink() = default;
  virtual void record(const MemoryEvent& event) = 0;
};

}  // namespace howard
