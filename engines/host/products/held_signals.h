// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

namespace howard::host {

/// Keeps signals from the calling thread while it lives: they go to another thread, or wait.
///
/// oneDNN 2.6's gemm points the stack register into a block of the heap while it multiplies, and a
/// signal's handler writes its frame of 3 KB below that: into whatever the heap has there. Of
/// signals during products with m = n = 256 up to 99 % found it there with AVX-512 at k = 96 and
/// above, at k = 80 and below none; with AVX2 some products at k = 256 and 512. Ctrl-C during
/// products of 256x256x256 broke the process in 8 runs of 22.
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
