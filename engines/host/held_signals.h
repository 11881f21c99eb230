// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

namespace howard::host {

/// Blocks signals for the calling thread during its lifetime: they go to another thread, or wait.
///
/// oneDNN 2.6's gemm points the stack register into a block of the heap while it multiplies. A
/// signal handler then writes its frame of 3 KB below that, over whatever the heap has there. The
/// following was measured for signals that arrived during products with m = n = 256:
///
///    AVX-512, k >= 96         up to 99 % found the stack register there
///    AVX-512, k <= 80         none did
///    AVX2, k = 256 and 512    some products
///    Ctrl-C, 256x256x256      crashed the process in 8 runs of 22
///
/// Nested objects cost nothing; an outermost one costs two system calls (0.5 us in a virtual
/// machine). So threads that do nothing but compute hold signals for all of their products. Signals
/// that the thread itself causes (SIGSEGV and the like) are not blocked.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  sigset_t before_;  ///< The signal mask before the outermost object.
};

}  // namespace howard::host
