// SPDX-License-Identifier: Apache-2.0
#include "engines/host/command_thread.h"

#include <utility>

#include "engines/host/held_signals.h"

namespace howard::host {
CommandThread::CommandThread(std::function<bool()> watched)
    : watched_(std::move(watched)), thread_([this] { serve(); }) {}

CommandThread::~CommandThread() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    waiting_.clear();
  }
  submitted_.notify_one();
  thread_.join();
}

void CommandThread::submit(Command command) {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (failure_ != nullptr) return;
    const bool first = waiting_.empty();
    waiting_.push_back(std::move(command));
    // This is asked after the command can be seen, so that a watcher who has just left has either
    // seen the command or is no longer counted on.
    wake = !running_ && !(first && watched_ && watched_());
  }
  if (wake) submitted_.notify_one();
}

/// Says whether nothing runs, waits or is unreported. A true result stays true until the asking
/// thread submits something.
bool CommandThread::is_idle() {
  const std::lock_guard lock(mutex_);
  return !running_ && waiting_.empty() && failure_ == nullptr;
}

void CommandThread::fail(std::exception_ptr failure) {
  const std::lock_guard lock(mutex_);
  failure_ = std::move(failure);
}

void CommandThread::look() {
  {
    const std::lock_guard lock(mutex_);
    if (running_ || waiting_.empty()) return;
  }
  submitted_.notify_one();
}

void CommandThread::wait() {
  std::unique_lock lock(mutex_);
  while (running_ || !waiting_.empty()) {
    if (running_) {
      ended_.wait(lock);
    } else {
      run_waiting(lock);
    }
  }
}

void CommandThread::finish() {
  wait();
  const std::lock_guard lock(mutex_);
  if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void CommandThread::serve() {
  const HeldSignals held;  // Once for all products that this thread will run.
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (running_ || waiting_.empty()) {
      submitted_.wait(lock);
    } else {
      run_waiting(lock);
    }
  }
}

/// Takes all waiting commands at once, so that the submitting and the running thread meet at the
/// lock only once for many commands.
void CommandThread::run_waiting(std::unique_lock<std::mutex>& lock) {
  taken_.swap(waiting_);
  running_ = true;
  lock.unlock();
  std::exception_ptr failure;
  try {
    for (Command& command : taken_) {
      if (stopping_) break;
      command();
      command = nullptr;  // Releases what the command kept alive.
    }
  } catch (...) {
    failure = std::current_exception();
  }
  taken_.clear();
  lock.lock();
  running_ = false;
  if (failure != nullptr) {
    failure_ = failure;
    waiting_.clear();
  }
  // A host that was woken earlier would only compete with this thread for the next command.
  if (waiting_.empty()) ended_.notify_one();
}

}  // namespace howard::host
