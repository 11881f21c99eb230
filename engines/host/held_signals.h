// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

namespace howard::host {

/// Keeps signals from the calling thread while it lives: they go to another thread, or wait.
///
/// oneDNN 2.6's gemm points the stack register into a block of the heap from k = 65 on (AVX-512; on
/// AVX2 from 256 on), and a signal's handler writes its frame of 3 KB below that: into whatever the
/// heap has there. Ctrl-C during a product broke the process in one run of four.
///
/// One within another costs nothing, an outermost one two calls of the system (0.5 us in a virtual
/// machine), so threads that do nothing but compute hold signals for all of their products. What
/// the thread itself does wrong (SIGSEGV and the like) is not held.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  sigset_t before_;  ///< Of the outermost one.
};

}  // namespace howard::host
