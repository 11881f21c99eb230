// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <new>

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
class HostMemory {
 public:
  /// May hand out what is available when it is made.
  HostMemory();

  /// Error for a block format, and when the memory does not suffice, with who holds what.
  BufferId allocate(const TensorSpec& spec);
  /// Commands that still hold its values keep them alive. Error for an unknown buffer.
  void release(BufferId buffer);
  /// Whether `buffer` was allocated and not released.
  bool holds(BufferId buffer) const { return values_.contains(buffer); }
  /// Error for an unknown buffer.
  const TensorSpec& spec(BufferId buffer) const { return ledger_.spec(buffer); }
  MemoryLedger& ledger() { return ledger_; }
  /// Error for an unknown buffer.
  std::shared_ptr<std::byte[]> values(BufferId buffer) const;

 private:
  MemoryLedger ledger_;
  std::map<BufferId, std::shared_ptr<std::byte[]>> values_;
};

}  // namespace howard::host
