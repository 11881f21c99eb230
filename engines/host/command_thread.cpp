// SPDX-License-Identifier: Apache-2.0
#include "engines/host/command_thread.h"

#include <utility>

namespace howard::host {

CommandThread::CommandThread() : thread_([this] { serve(); }) {}

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
  {
    const std::lock_guard lock(mutex_);
    if (failure_ != nullptr) return;
    waiting_.push_back(std::move(command));
  }
  submitted_.notify_one();
}

void CommandThread::wait() {
  std::unique_lock lock(mutex_);
  while (running_ || !waiting_.empty()) {
    if (running_) {
      ended_.wait(lock);
    } else {
      run_next(lock);
    }
  }
}

void CommandThread::finish() {
  wait();
  const std::lock_guard lock(mutex_);
  if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void CommandThread::serve() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (running_ || waiting_.empty()) {
      submitted_.wait(lock);
    } else {
      run_next(lock);
    }
  }
}

void CommandThread::run_next(std::unique_lock<std::mutex>& lock) {
  const Command command = std::move(waiting_.front());
  waiting_.pop_front();
  running_ = true;
  lock.unlock();
  std::exception_ptr failure;
  try {
    command();
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  running_ = false;
  if (failure != nullptr) {
    failure_ = failure;
    waiting_.clear();
  }
  ended_.notify_one();
}

}  // namespace howard::host
