// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace howard::testing {

/// Ends the program with a failure if it lives for longer than a minute: a test that would hang
/// fails, and says so. Nothing that it watches takes a second.
class Watchdog {
 public:
  explicit Watchdog(std::chrono::seconds limit = std::chrono::seconds(60)) {
    thread_ = std::thread([this, limit] {
      std::unique_lock lock(mutex_);
      if (ended_.wait_for(lock, limit, [this] { return is_over_; })) return;
      std::fputs("the test hangs\n", stderr);
      std::_Exit(EXIT_FAILURE);
    });
  }
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    ended_.notify_one();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace howard::testing
