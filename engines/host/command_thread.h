// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace howard::host {

/// Runs commands one at a time in the order of their submission, on a thread of its own or on a
/// thread that waits for them: a waiting host thread runs the next command itself when none is
/// running. A product that is finished at once so costs no change of threads (two of them, 10 to
/// 50 us each on a virtual machine, where a bfloat16 product of 128x128x128 takes 12 us).
///
/// After a command has thrown, the commands behind it are dropped until finish() has reported it:
/// they may need what the failed one did not write. Submit and wait from one thread at a time.
class CommandThread {
 public:
  using Command = std::function<void()>;

  CommandThread();
  /// Waits for the running command; drops those that have not begun and any unreported failure.
  ~CommandThread();
  CommandThread(const CommandThread&) = delete;
  CommandThread& operator=(const CommandThread&) = delete;

  /// Returns at once. What `command` refers to must live until it has run.
  void submit(Command command);

  /// Returns when every command has run or was dropped. Keeps a failure for finish().
  void wait();

  /// wait(), then rethrows the failure if there is one, once.
  void finish();

 private:
  void serve();
  void run_next(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable submitted_;
  std::condition_variable ended_;
  std::deque<Command> waiting_;
  bool running_ = false;
  bool stopping_ = false;
  std::exception_ptr failure_;
  std::thread thread_;  ///< Last: it uses all the others.
};

}  // namespace howard::host
