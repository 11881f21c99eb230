// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace howard::host {

/// Runs commands one at a time in the order of their submission, on a thread of its own or on the
/// host's: one that waits for commands runs them itself when none is running, and one that submits
/// may run a short one at once when none is before it. So neither a product that is finished at
/// once nor a short command costs a change of threads.
///
/// For the same reason a first command does not wake the thread while somebody else watches, who
/// will soon call look(): the host may be about to wait, and a woken thread takes a core from the
/// product (1.3 us of the 10.7 us that two Zen 4 cores need for a bfloat16 128x128x128). A second
/// command in waiting does wake it. Timers in place of the watcher cost 8 % on a virtual machine.
///
/// After a command has thrown, the commands behind it are dropped until finish() has reported it:
/// they may need what the failed one did not write. Submit and wait from one thread at a time.
class CommandThread {
 public:
  using Command = std::function<void()>;

  /// `watched` tells, at any time and on the submitting thread, whether look() is sure to be called
  /// within a fraction of a millisecond. Without it every command wakes the thread.
  explicit CommandThread(std::function<bool()> watched = {});
  /// Waits for the running command; drops those that have not begun and any unreported failure.
  ~CommandThread();
  CommandThread(const CommandThread&) = delete;
  CommandThread& operator=(const CommandThread&) = delete;

  /// Returns at once. What `command` refers to must live until it has run.
  void submit(Command command);

  /// Runs `command` before it returns if none is running or waiting and no failure is unreported;
  /// whether it did. A failure of `command` is kept for finish(). To be called like submit(), which
  /// is for the command that was not run.
  template <class Function>
  bool run_if_idle(const Function& command) {
    if (!is_idle()) return false;
    try {
      command();
    } catch (...) {
      fail(std::current_exception());
    }
    return true;
  }

  /// Wakes the thread if a command is waiting that nobody runs. From any thread.
  void look();

  /// Returns when every command has run or was dropped. Keeps a failure for finish().
  void wait();

  /// wait(), then rethrows the failure if there is one, once.
  void finish();

 private:
  bool is_idle();
  void fail(std::exception_ptr failure);
  void serve();
  void run_waiting(std::unique_lock<std::mutex>& lock);

  std::function<bool()> watched_;
  std::mutex mutex_;
  std::condition_variable submitted_;
  std::condition_variable ended_;
  std::vector<Command> waiting_;
  std::vector<Command> taken_;  ///< By who runs them, all that were waiting.
  bool running_ = false;
  std::atomic<bool> stopping_ = false;
  std::exception_ptr failure_;
  std::thread thread_;  ///< Last: it uses all the others.
};

}  // namespace howard::host
