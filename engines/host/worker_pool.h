// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

namespace howard::host {

/// The one pool of compute threads, which are TBB's. Every kernel splits its work over it, so that
/// two pools never fight over the cores.
///
/// Work is handed out block by block to whichever thread asks first. A thread that runs out of work
/// stays for 100 us in case the next program follows, as it does when one op comes after another.
/// TBB's own search for work takes 5 us to notice new work, half of a bfloat16 product of
/// 128x128x128 (11 us on two Zen 4 cores); this takes 0.3 us. The thread that calls run() is one of
/// the threads.
class WorkerPool {
 public:
  /// `threads` is at least 1; it includes the caller of run(). If `binds` and there is a thread for
  /// each core of the machine, each keeps to a core of its own while it works or stays (OwnCore).
  explicit WorkerPool(int threads, bool binds = false);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  int threads() const { return threads_; }

  /// Returns whether any thread other than the caller is still staying.
  bool is_staying() const;
  /// Sets a function that the last thread to leave calls when is_staying() has become false. An
  /// empty function stops that, and no call is under way once this returns. Set it only while
  /// nothing runs.
  void when_left(std::function<void()> call);

  /// Calls `body(block, worker)` for block = 0 ... blocks - 1, spread over the threads, and returns
  /// when all have run. `worker` is 0 ... threads() - 1 and never the same for two calls that run
  /// at the same time. Only one thread may call it at a time. It rethrows the first exception of a
  /// body.
  template <class Body>
  void run(int blocks, const Body& body) {
    run_job(blocks, {&body, [](const void* self, int block, int worker) {
                       (*static_cast<const Body*>(self))(block, worker);
                     }});
  }

 private:
  struct Job {
    const void* body = nullptr;
    void (*call)(const void* body, int block, int worker) = nullptr;
  };
  class Crew;

  void run_job(int blocks, const Job& job);

  int threads_;
  std::unique_ptr<Crew> crew_;
};

}  // namespace howard::host
