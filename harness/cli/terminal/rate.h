// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace howard::cli {

/// Counts how many of something end in a second of wall time, over the last second or so.
class Rate {
 public:
  void add() { ++count_; }
  /// Returns zero before the first one has ended.
  double per_second() {
    const Clock::time_point now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - start_).count();
    const bool is_whole = seconds >= 1;
    if (count_ > 0 && (is_whole || !has_rate_)) rate_ = count_ / seconds;
    if (is_whole && count_ > 0) {
      has_rate_ = true;
      count_ = 0;
      start_ = now;
    }
    return rate_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point start_ = Clock::now();
  double count_ = 0;
  double rate_ = 0;
  bool has_rate_ = false;  ///< True once a whole second has been counted.
};

}  // namespace howard::cli
