// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/events/memory_event.h"

namespace howard::host {

struct HostOptions {
  /// This many threads compute: from 1 to what the process may use (its CPU affinity). 0 means all
  /// of these.
  int threads = 0;
  /// If true, programs of a captured trace are fused where possible (trace_fusion.h). What the
  /// trace leaves behind has the same bits. Its intermediates, which one of its programs writes and
  /// a later one reads, may end with any value.
  bool fuse_traces = false;
  /// If true, and if the device has a thread for each core of the machine, each of these threads
  /// keeps to a core of its own while it works (processor_cores.h).
  bool binds_threads = false;
  /// This sink is told of what the device allocates and releases, as DRAM. Null means no sink.
  MemorySink* memory = nullptr;
};

/// Returns the number of threads that `options` ask for. Throws Error when they make no sense on
/// this machine.
int thread_count(const HostOptions& options);

}  // namespace howard::host
