// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engines/device/memory_ledger.h"
#include "engines/wormhole/profiles/profile.h"

namespace howard::wormhole {

/// The chip's DRAM and the L1 of its cores, as tensors and circular buffers use them.
class DeviceMemory {
 public:
  /// `trace_region` of the DRAM is set aside. `grid`: the cores over which L1 tensors are spread.
  DeviceMemory(const ChipProfile& chip, Bytes trace_region, CoreGrid grid);

  /// Error when the memory that the spec names has no room, with who holds what.
  BufferId allocate(const TensorSpec& spec);
  /// Each Error: there is no such buffer.
  void release(BufferId buffer);
  const TensorSpec& spec(BufferId buffer) const;

  /// What the L1 tensors leave on each core for circular buffers.
  Bytes l1_free() const { return l1_.capacity() - l1_.used(); }
  /// "; largest holders: ..." of L1, for errors.
  std::string l1_holders() const { return l1_.largest_holders(); }

  /// Tells `sink` of what is allocated and released, and of circular buffers; null: nobody. L1 is
  /// that of one core.
  void report_to(MemorySink* sink, const std::function<SimTime()>& now);
  /// A program was launched or captured that has these circular buffers on each core. For TTML's
  /// tracker, whose way this is, they live as long as the host's call.
  void pass_circular_buffers(std::string_view program, Bytes size);

  void begin_phase(std::string_view phase);
  const std::vector<MemoryPhase>& phases() const { return dram_.phases(); }

 private:
  static bool is_in_l1(BufferId buffer);

  std::int64_t cores_;
  MemoryLedger dram_;
  MemoryLedger l1_;  ///< Of one core: tensors are spread evenly, page by page.
  MemorySink* sink_ = nullptr;
  std::function<SimTime()> now_;
  std::string phase_;
  std::uint64_t programs_ = 0;  ///< Reported.
};

}  // namespace howard::wormhole
