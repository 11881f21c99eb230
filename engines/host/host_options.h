// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace howard::host {

struct HostOptions {
  /// How many threads compute, 1 to what the process may use (its CPU affinity); 0: all of them.
  int threads = 0;
};

/// The number of threads that `options` mean. Error when they make no sense on this machine.
int thread_count(const HostOptions& options);

}  // namespace howard::host
