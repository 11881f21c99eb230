// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <new>
#include <vector>

#include "engines/device/buffer_table.h"
#include "engines/device/memory_ledger.h"

namespace howard::host {

/// Frees what allocate_aligned returned.
struct AlignedDelete {
  void operator()(std::byte* bytes) const;
};
using AlignedBytes = std::unique_ptr<std::byte[], AlignedDelete>;

/// Allocates uninitialised memory, aligned to a cache line and a vector register (64 bytes).
/// Returns null when the system has no memory left.
AlignedBytes allocate_aligned(Bytes size);

/// Memory that begins at a large page and is in large pages where the system provides them. A
/// second-level cache then holds as much of it as it has room for, while small pages at arbitrary
/// addresses evict each other.
class LargePages {
 public:
  LargePages() = default;
  /// Holds null when the system has no memory left.
  explicit LargePages(Bytes size);
  std::byte* get() const { return begin_; }

 private:
  AlignedBytes bytes_;
  std::byte* begin_ = nullptr;
};

/// Returns how much memory the system could give this process now without swapping: MemAvailable,
/// or the limit of the process's control group if that is less.
Bytes available_memory();

/// The buffers of the host device; their elements lie row by row without padding.
///
/// The memory of a released buffer is reused for the next buffer of its size, even while commands
/// that use it wait to run. This is safe because the one queue runs in order, and the host waits
/// for it before it reads or writes. So a host that runs ahead of the queue needs no more memory
/// than one that waits, and small results need no call of the C library's allocator, which takes
/// longer than an op on 32x32. The memory kept for later buffers and the memory in buffers together
/// never exceed the ledger's peak.
class HostMemory {
 public:
  /// Its capacity is what is available when it is made.
  HostMemory();

  /// Allocates a buffer with undefined values. Throws Error for a block format, and when there is
  /// too little memory; the text names the largest holders.
  BufferId allocate(const TensorSpec& spec);
  /// Throws Error for an unknown buffer.
  void release(BufferId buffer);
  /// Returns whether `buffer` was allocated and not yet released.
  bool holds(BufferId buffer) const { return buffers_.find(buffer) != nullptr; }
  /// The reference is valid until the next allocate() or release(). Throws Error for an unknown
  /// buffer.
  const TensorSpec& spec(BufferId buffer) const { return find(buffer).spec; }
  /// Returns the buffer's memory. Throws Error for an unknown buffer.
  const std::shared_ptr<std::byte[]>& values(BufferId buffer) const { return find(buffer).values; }
  /// Marks the buffer as used by commands that run again and again: its memory is given to no other
  /// buffer and lives as long as anybody shares it. Throws Error for an unknown buffer.
  void mark_recorded(BufferId buffer);
  MemoryLedger& ledger() { return ledger_; }
  const MemoryLedger& ledger() const { return ledger_; }

 private:
  struct Buffer {
    TensorSpec spec;
    std::shared_ptr<std::byte[]> values;
    bool is_recorded = false;
  };

  const Buffer& find(BufferId buffer) const;
  std::shared_ptr<std::byte[]> find_values(Bytes size);
  void keep_at_most(Bytes limit);

  MemoryLedger ledger_;
  BufferTable<Buffer> buffers_;
  /// Memory of released buffers, by size.
  std::map<Bytes, std::vector<std::shared_ptr<std::byte[]>>> kept_;
  Bytes kept_bytes_;
};

}  // namespace howard::host
