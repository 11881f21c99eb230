// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engines/chip/profiles/profile.h"
#include "engines/device/memory_ledger.h"

namespace howard::chip {

/// Accounts for the chip's DRAM and the L1 of its cores, as used by tensors and circular buffers.
class DeviceMemory {
 public:
  /// Sets `trace_region` of the DRAM aside. `grid` has the cores over which L1 tensors are spread.
  DeviceMemory(const ChipProfile& chip, Bytes trace_region, CoreGrid grid);

  /// Throws Error when the memory that the spec names has no room; the text names the largest
  /// holders.
  BufferId allocate(const TensorSpec& spec);
  /// These throw Error when there is no such buffer.
  void release(BufferId buffer);
  const TensorSpec& spec(BufferId buffer) const;

  /// Returns how much of each core's L1 the L1 tensors leave for circular buffers.
  Bytes l1_free() const { return l1_.capacity() - l1_.used(); }
  /// Returns "; largest holders: ..." for L1, for errors.
  std::string l1_holders() const { return l1_.largest_holders(); }

  /// Tells `sink` of what is allocated and released, and of circular buffers. A null sink stops
  /// that. L1 sizes are those of one core.
  void report_to(MemorySink* sink, const std::function<SimTime()>& now);
  /// Reports that a program was launched or captured that has these circular buffers on each core.
  /// They live as long as the host's call, because that is how TTML's tracker counts them.
  void pass_circular_buffers(std::string_view program, Bytes size);

  /// Reserves the DRAM that a call with this result takes besides operands and results, and
  /// releases it at once: it lives as long as the host's call. Throws Error as allocate() does.
  void pass_temporaries(const TensorSpec& result, Bytes size) {
    dram_.release(dram_.reserve(result, size));
  }

  void begin_phase(std::string_view phase);
  const std::vector<MemoryPhase>& phases() const { return dram_.phases(); }

 private:
  static bool is_in_l1(BufferId buffer);

  std::int64_t cores_;
  MemoryLedger dram_;
  MemoryLedger l1_;  ///< The L1 of one core: tensors are spread evenly, page by page.
  MemorySink* sink_ = nullptr;
  std::function<SimTime()> now_;
  std::string phase_;
  std::uint64_t programs_ = 0;  ///< How many programs were reported.
};

}  // namespace howard::chip
