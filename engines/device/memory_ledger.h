// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/events/memory_event.h"
#include "base/units.h"
#include "engines/device/buffer_table.h"
#include "engines/program/program.h"

namespace howard {

/// Says how memory was used during one phase of a run.
struct MemoryPhase {
  std::string name;
  Bytes allocated, released;
  Bytes peak;     ///< The most that was in use at once.
  Bytes current;  ///< The amount in use at the end of the phase, or now if it has not ended.
};

/// Keeps account of which buffers hold how much of a device's memory. It hands out buffer ids, and
/// never the same id twice.
class MemoryLedger {
 public:
  /// `memory` is the name to use in errors: "DRAM of wormhole_b0_n300". `first` is the number of
  /// the first buffer, for ledgers that share the numbers of one device.
  MemoryLedger(std::string memory, Bytes capacity, std::uint64_t first = 1);

  /// Reserves `size` bytes. Throws Error when they do not fit any more; the text has the size asked
  /// for, what is free and the largest holders.
  BufferId reserve(const TensorSpec& spec, Bytes size);
  /// Releases a buffer. Throws Error when it never existed or was already released.
  void release(BufferId buffer);
  /// Returns the spec that a buffer was reserved for. Throws Error for a buffer that does not
  /// exist.
  const TensorSpec& spec(BufferId buffer) const;

  /// Returns text for errors: "; largest holders: buffer 1 (1024x1024 bfloat16) 2.0 MiB, ...". It
  /// is empty when nothing is held.
  std::string largest_holders() const;

  Bytes used() const { return used_; }
  Bytes capacity() const { return capacity_; }
  /// Returns the most that was ever in use at once.
  Bytes peak() const { return peak_; }

  /// Counts what is reserved and released from now on for `phase`, as Device::begin_phase says.
  void begin_phase(std::string_view phase);
  const std::vector<MemoryPhase>& phases() const { return phases_; }

  /// Tells `sink` of every later reserve and release, as memory of `kind`, at the time that `now`
  /// returns. A null sink stops that. Both must outlive the ledger.
  void report_to(MemorySink* sink, MemoryKind kind, std::function<SimTime()> now);

 private:
  struct Entry {
    TensorSpec spec;
    Bytes size;
  };

  const Entry& entry(BufferId buffer) const;
  void report(MemoryAction action, BufferId buffer, const Entry& entry) const;

  std::string memory_;
  Bytes capacity_;
  Bytes used_, peak_;
  std::uint64_t next_;
  std::vector<MemoryPhase> phases_;
  std::size_t phase_ = 0;  ///< The index of the current phase, if there is any.
  BufferTable<Entry> entries_;
  MemorySink* sink_ = nullptr;
  MemoryKind kind_{};
  std::function<SimTime()> now_;
};

}  // namespace howard
