// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engines/host/host_memory.h"

namespace howard::host {

/// Memory for intermediate results, a piece for each worker of the pool. It belongs to the kernel
/// that is running, one at a time.
class Workspace {
 public:
  explicit Workspace(int workers) : pieces_(static_cast<std::size_t>(workers)) {}

  /// Makes each piece at least `size` large; what it held is lost. Error when the system has no
  /// memory left.
  void require(Bytes size);

  /// Aligned to a cache line.
  std::byte* of(int worker) const { return pieces_[static_cast<std::size_t>(worker)].get(); }
  float* floats(int worker) const { return reinterpret_cast<float*>(of(worker)); }

 private:
  std::vector<AlignedBytes> pieces_;
  Bytes size_;
};

}  // namespace howard::host
