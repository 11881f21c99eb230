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

/// Frees what allocate_aligned gave.
struct AlignedDelete {
  void operator()(std::byte* bytes) const;
};
using AlignedBytes = std::unique_ptr<std::byte[], AlignedDelete>;

/// Uninitialised, aligned to a cache line and a vector register (64 bytes); null when the system
/// has no memory left.
AlignedBytes allocate_aligned(Bytes size);

/// The same from the beginning of a large page on, and in large pages where the system gives them:
/// in one a second cache holds as much as it has room for, while small pages that lie anywhere push
/// each other out.
class LargePages {
 public:
  LargePages() = default;
  /// Null when the system has no memory left.
  explicit LargePages(Bytes size);
  std::byte* get() const { return begin_; }

 private:
  AlignedBytes bytes_;
  std::byte* begin_ = nullptr;
};

/// What the system could give this process now without swapping: MemAvailable, or the limit of
/// its control group if that is less.
Bytes available_memory();

/// The buffers of the host device: elements row by row without padding.
///
/// A released buffer's values go to the next buffer of its size, even while commands that use them
/// wait to run: the one queue runs in order, and the host waits for it before it reads or writes.
/// So a host that runs ahead of the queue needs no more memory than one that waits, and small
/// results are not looked for in the C library, where that takes longer than an op on 32x32. What
/// is kept for later buffers and what buffers hold is together never more than the ledger's peak.
class HostMemory {
 public:
  /// May hand out what is available when it is made.
  HostMemory();

  /// Values undefined. Error for a block format, and when the memory does not suffice, with who
  /// holds what.
  BufferId allocate(const TensorSpec& spec);
  /// Error for an unknown buffer.
  void release(BufferId buffer);
  /// Whether `buffer` was allocated and not released.
  bool holds(BufferId buffer) const { return buffers_.find(buffer) != nullptr; }
  /// Until the next call of the two above. Error for an unknown buffer.
  const TensorSpec& spec(BufferId buffer) const { return find(buffer).spec; }
  /// As above.
  const std::shared_ptr<std::byte[]>& values(BufferId buffer) const { return find(buffer).values; }
  /// Commands that run again and again use the buffer: its values go to no other one, and live as
  /// long as somebody shares them. Error for an unknown buffer.
  void mark_recorded(BufferId buffer);
  MemoryLedger& ledger() { return ledger_; }

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
  std::map<Bytes, std::vector<std::shared_ptr<std::byte[]>>> kept_;  ///< By their size.
  Bytes kept_bytes_;
};

}  // namespace howard::host
