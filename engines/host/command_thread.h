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

/// Runs commands one at a time in the order of their submission, either on a thread of its own or
/// on the host's thread. A host that waits for commands runs them itself when none is running, and
/// a host that submits a short command may run it at once when none is before it. So neither a
/// product that is finished at once nor a short command costs a change of threads.
///
/// For the same reason, a first command does not wake the thread while a watcher is active, who
/// will soon call look(). The host may be about to wait, and a woken thread takes a core from the
/// product (1.3 us of the 10.7 us that two Zen 4 cores need for a bfloat16 128x128x128). A second
/// waiting command does wake the thread. Timers instead of the watcher cost 8 % on a virtual
/// machine.
///
/// After a command has thrown, the commands behind it are dropped until finish() has reported the
/// failure: they may need what the failed command did not write. Submit and wait from one thread at
/// a time.
class CommandThread {
 public:
  using Command = std::function<void()>;

  /// `watched` returns whether look() is sure to be called within a fraction of a millisecond. It
  /// is called at any time, on the submitting thread. Without `watched`, every command wakes the
  /// thread.
  explicit CommandThread(std::function<bool()> watched = {});
  /// Waits for the running command. Commands that have not begun and an unreported failure are
  /// dropped.
  ~CommandThread();
  CommandThread(const CommandThread&) = delete;
  CommandThread& operator=(const CommandThread&) = delete;

  /// Queues `command` and returns at once. What `command` refers to must live until it has run.
  void submit(Command command);

  /// Runs `command` before it returns if no command is running or waiting and no failure is
  /// unreported. Returns whether it did; if not, call submit(). A failure of `command` is kept for
  /// finish(). The same rules as for submit() apply.
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

  /// Wakes the thread if a command is waiting and nobody is running it. May be called from any
  /// thread.
  void look();

  /// Returns when every command has run or was dropped. It keeps a failure for finish().
  void wait();

  /// Calls wait(), then rethrows the failure, if there is one, and forgets it.
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
  /// The batch of commands that the running thread has taken from `waiting_`.
  std::vector<Command> taken_;
  bool running_ = false;
  std::atomic<bool> stopping_ = false;
  std::exception_ptr failure_;
  std::thread thread_;  ///< Declared last because it uses all other members.
};

}  // namespace howard::host
