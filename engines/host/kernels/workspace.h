// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engines/host/host_memory.h"

namespace howard::host {

/// Memory for intermediate results: a piece for each worker of the pool and one common piece. It
/// belongs to the running kernel; only one runs at a time.
class Workspace {
 public:
  explicit Workspace(int workers) : pieces_(static_cast<std::size_t>(workers)) {}

  /// Makes each worker's piece at least `own` large and the common piece at least `common`. Their
  /// previous contents are lost. Throws Error when the system has no memory left.
  void require(Bytes own, Bytes common = Bytes(0));

  /// Returns the worker's piece, aligned to a cache line.
  std::byte* of(int worker) const { return pieces_[static_cast<std::size_t>(worker)].get(); }
  float* floats(int worker) const { return reinterpret_cast<float*>(of(worker)); }
  std::byte* common() const { return common_.get(); }

 private:
  std::vector<LargePages> pieces_;
  LargePages common_;
  Bytes size_, common_size_;
};

}  // namespace howard::host
