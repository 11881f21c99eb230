// SPDX-License-Identifier: Apache-2.0
#include "engines/host/held_signals.h"

#include <pthread.h>

#include <initializer_list>

namespace howard::host {
namespace {

thread_local int holders = 0;  // NOLINT(*-avoid-non-const-global-variables): per thread

sigset_t held() {
  sigset_t signals;
  sigfillset(&signals);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) sigdelset(&signals, own);
  return signals;
}

}  // namespace

HeldSignals::HeldSignals() {
  static const sigset_t kHeld = held();
  if (holders++ == 0) pthread_sigmask(SIG_BLOCK, &kHeld, &before_);
}

HeldSignals::~HeldSignals() {
  if (--holders == 0) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace howard::host
