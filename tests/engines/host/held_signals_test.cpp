// SPDX-License-Identifier: Apache-2.0
#include "engines/host/held_signals.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <thread>
#include <vector>

#include "engines/host/kernels/matmul/product_plan.h"
#include "engines/host/kernels/workspace.h"
#include "engines/host/worker_pool.h"
#include "tests/engines/host/kernels/matmul/host_products.h"

namespace howard::host {
namespace {

// A signal handler can reach nothing but globals.
std::uintptr_t main_stack = 0;
std::uintptr_t main_stack_end = 0;
std::atomic<int> handled = 0;
std::atomic<int> handled_off_stack = 0;

/// Another thread's stack ends a little above the address in its thread pointer.
bool is_on_stack(std::uintptr_t pointer) {
  constexpr std::uintptr_t kDeepest = std::uintptr_t{1} << 20;
  if (pointer >= main_stack && pointer < main_stack_end) return true;
  const auto end = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
  return pointer < end && end - pointer < kDeepest;
}

void on_signal(int /*signal*/, siginfo_t* /*info*/, void* context) {
  const auto& interrupted = *static_cast<const ucontext_t*>(context);
  ++handled;
  if (!is_on_stack(static_cast<std::uintptr_t>(interrupted.uc_mcontext.gregs[REG_RSP]))) {
    ++handled_off_stack;
  }
}

/// While it lives, every thread of the process but its own receives SIGUSR1 several thousand times
/// a second.
class SignalStorm {
 public:
  SignalStorm() {
    pthread_attr_t attributes;
    pthread_getattr_np(pthread_self(), &attributes);
    void* stack = nullptr;
    std::size_t size = 0;
    pthread_attr_getstack(&attributes, &stack, &size);
    pthread_attr_destroy(&attributes);
    main_stack = reinterpret_cast<std::uintptr_t>(stack);
    main_stack_end = main_stack + size;
    handled = handled_off_stack = 0;
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(SIGUSR1, &action, &before_);
    sender_ = std::jthread([](const std::stop_token& stop) { send(stop); });
  }
  ~SignalStorm() {
    sender_ = {};  // Stopped and joined.
    // Threads that hold signals may still have one to come, which ignoring it once takes away.
    std::signal(SIGUSR1, SIG_IGN);
    sigaction(SIGUSR1, &before_, nullptr);
  }
  SignalStorm(const SignalStorm&) = delete;
  SignalStorm& operator=(const SignalStorm&) = delete;

 private:
  static void send(const std::stop_token& stop) {
    const pid_t own = gettid();
    while (!stop.stop_requested()) {
      for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        const auto thread = static_cast<pid_t>(std::stol(task.path().filename()));
        if (thread != own) syscall(SYS_tgkill, getpid(), thread, SIGUSR1);
      }
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }

  struct sigaction before_ {};
  std::jthread sender_;
};

class SignalsDuringProducts : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(SignalsDuringProducts, FindThreadsOnTheirStacks) {
  // oneDNN takes its gemm if bfloat16 is widened and two threads share the columns. If signals are
  // not held, they break the heap here when k is large; for a small k they are not held.
  constexpr int kThreads = 2;
  constexpr std::int64_t kSide = 512;
  ProductPlan plan({.m = kSide, .k = GetParam(), .n = kSide}, kThreads, gemm_wants_gaps(), false);
  WorkerPool pool(kThreads);
  Workspace workspace(kThreads);
  const auto factor =
      to_bytes(random_values(kSide * GetParam(), DataType::bfloat16, 1), DataType::bfloat16);
  std::vector<std::byte> c(kSide * kSide * 2);
  const auto multiply = [&] {
    plan.run({factor.data(), factor.data(), nullptr, c.data()}, pool, workspace);
  };
  multiply();  // oneDNN makes its kernels at the first call.
  const SignalStorm storm;
  constexpr int kEnough = 1000;
  for (int products = 0; handled < kEnough && products < 100'000; ++products) multiply();
  EXPECT_GE(handled, kEnough);
  EXPECT_EQ(handled_off_stack, 0);
}

INSTANTIATE_TEST_SUITE_P(OfK, SignalsDuringProducts, ::testing::Values(64, 512));

bool holds(int signal) {
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  return sigismember(&mask, signal) == 1;
}

TEST(HeldSignals, ComeWhenTheOutermostHolderHasGone) {
  ASSERT_FALSE(holds(SIGINT));
  {
    const HeldSignals outer;
    { const HeldSignals inner; }
    EXPECT_TRUE(holds(SIGINT)) << "the inner one's end is not the outer one's";
  }
  EXPECT_FALSE(holds(SIGINT));
}

TEST(HeldSignals, AreNotThoseThatTheThreadItselfCauses) {
  const HeldSignals held;
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) EXPECT_FALSE(holds(own));
  for (const int other : {SIGINT, SIGTERM, SIGALRM, SIGPROF}) EXPECT_TRUE(holds(other));
}

}  // namespace
}  // namespace howard::host
