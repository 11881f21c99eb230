// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/memory_event.h"

namespace howard::host {

struct HostOptions {
  /// How many threads compute, 1 to what the process may use (its CPU affinity); 0: all of them.
  int threads = 0;
  /// Whether the programs of a captured trace that can run as one do (trace_fusion.h). What the
  /// trace leaves behind has the same bits; its intermediates, which one of its programs writes and
  /// a later one reads, may keep any value.
  bool fuse_traces = false;
  /// Is told of what the device allocates and releases, as DRAM; null: nobody.
  MemorySink* memory = nullptr;
};

/// The number of threads that `options` mean. Error when they make no sense on this machine.
int thread_count(const HostOptions& options);

}  // namespace howard::host
