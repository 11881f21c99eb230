// SPDX-License-Identifier: Apache-2.0
#include "engines/host/worker_pool.h"

#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "engines/host/held_signals.h"
#include "engines/host/processor_cores.h"

#ifdef __SANITIZE_THREAD__
// The sanitizer cannot see how TBB's library hands a task from thread to thread. These suppressions
// hide accesses to the task object itself, but not what the task does.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "race_top:tbb::detail\nrace_top:Crew::call_helpers\n";
}
#endif

namespace howard::host {
namespace {

constexpr std::chrono::microseconds kStay{100};

/// A thread looks this often for work before it yields to others, which takes about 1 us.
constexpr int kLooksBeforeYield = 1000;

constexpr std::size_t kCacheLine = 64;

}  // namespace

class WorkerPool::Crew {
 public:
  Crew(int threads, bool binds) : arena_(threads) {
    if (binds && threads > 1) cpus_ = cores_of_machine(threads);
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  /// Runs a job with up to `helpers` helpers. The caller is worker 0.
  void run(int blocks, int helpers, const Job& job) {
    OwnCore core(cpus_);
    core.keep();  // before a helper takes it
    job_ = job;
    unfinished_.store(blocks, std::memory_order_relaxed);
    handed_out_.store(static_cast<std::uint64_t>(blocks) << 32);
    call_helpers(helpers);
    work(0, core);
    for (int looks = 0; unfinished_.load(std::memory_order_acquire) != 0; ++looks) {
      if (looks >= kLooksBeforeYield) std::this_thread::yield();
    }
    if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

  /// Dismisses the helpers and waits until they have left.
  ~Crew() {
    dismissed_.store(true, std::memory_order_relaxed);
    while (present_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
  }

  bool is_staying() const { return staying_.load() != 0; }

  void when_left(std::function<void()> call) {
    const std::lock_guard lock(left_mutex_);
    left_ = std::move(call);
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// Calls helpers until there are `wanted`, including those that have not arrived yet. A helper
  /// that is leaving is not counted any more or sees the job, as both sides use the one order of
  /// all sequentially consistent operations.
  void call_helpers(int wanted) {
    while (helpers_.load() < wanted) {
      helpers_.fetch_add(1);
      present_.fetch_add(1, std::memory_order_release);
      // TBB's worker threads have the numbers from 1 in the arena; 0 is reserved for a caller.
      arena_.enqueue([this] { help(tbb::this_task_arena::current_thread_index()); });
    }
  }

  void help(int worker) {
    // TBB orders what came before enqueue() before this; the load says so to the thread sanitizer.
    static_cast<void>(present_.load(std::memory_order_acquire));
    staying_.fetch_add(1);
    for (;;) {
      stay(worker);
      helpers_.fetch_sub(1);
      if (!has_block(handed_out_.load())) break;
      helpers_.fetch_add(1);
    }
    if (staying_.fetch_sub(1) == 1) {
      const std::lock_guard lock(left_mutex_);
      if (left_) left_();
    }
    // This is the last use of the crew, which may be destroyed now.
    present_.fetch_sub(1, std::memory_order_release);
  }

  void stay(int worker) {
    OwnCore core(cpus_);
    const HeldSignals held;  // Once for all products while this thread stays.
    auto leave = Clock::now() + kStay;
    while (Clock::now() < leave && !dismissed_.load(std::memory_order_relaxed)) {
      core.keep();
      if (work(worker, core)) leave = Clock::now() + kStay;
    }
  }

  static bool has_block(std::uint64_t state) { return (state & 0xffff'ffff) < (state >> 32); }

  /// Runs blocks until none is left to hand out. Returns whether there was one. It looks at the job
  /// only while it has a block in hand, because run() then waits for it and does not change the
  /// job.
  bool work(int worker, OwnCore& core) {
    bool worked = false;
    std::uint64_t state = handed_out_.load(std::memory_order_relaxed);
    while (has_block(state)) {
      if (!handed_out_.compare_exchange_weak(state, state + 1, std::memory_order_acquire,
                                             std::memory_order_relaxed)) {
        continue;
      }
      worked = true;
      core.keep();
      try {
        job_.call(job_.body, static_cast<int>(state & 0xffff'ffff), worker);
      } catch (...) {
        const std::lock_guard lock(failure_mutex_);
        if (failure_ == nullptr) failure_ = std::current_exception();
      }
      unfinished_.fetch_sub(1, std::memory_order_release);
      state = handed_out_.load(std::memory_order_relaxed);
    }
    return worked;
  }

  tbb::task_arena arena_;
  std::vector<int> cpus_;  ///< The workers keep to CPUs of their own among these.
  Job job_;
  alignas(kCacheLine) std::atomic<std::uint64_t> handed_out_{0};  ///< blocks << 32 | handed out
  alignas(kCacheLine) std::atomic<int> unfinished_{0};  ///< The number of unfinished blocks.
  /// Helpers that will look for work, and those that use the crew in any way. Both include helpers
  /// that are called but have not arrived.
  alignas(kCacheLine) std::atomic<int> helpers_{0};
  std::atomic<int> present_{0};
  std::atomic<int> staying_{0};
  std::atomic<bool> dismissed_{false};
  std::mutex left_mutex_;
  std::function<void()> left_;
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
};

WorkerPool::WorkerPool(int threads, bool binds)
    : threads_(threads), crew_(std::make_unique<Crew>(threads, binds)) {}

WorkerPool::~WorkerPool() = default;

bool WorkerPool::is_staying() const { return crew_->is_staying(); }

void WorkerPool::when_left(std::function<void()> call) { crew_->when_left(std::move(call)); }

void WorkerPool::run_job(int blocks, const Job& job) {
  crew_->run(blocks, std::min(blocks, threads_) - 1, job);
}

}  // namespace howard::host
