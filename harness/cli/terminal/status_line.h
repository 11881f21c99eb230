// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

namespace howard::cli {

/// Writes one line on standard error over and over, on a terminal only.
class StatusLine {
 public:
  /// If `enabled` is false or there is no terminal, nothing is ever printed.
  explicit StatusLine(bool enabled);
  /// Removes the line.
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  /// Returns whether a text would be shown now. Texts that follow each other faster than the eye
  /// can see are left out.
  bool is_due() const { return enabled_ && Clock::now() >= next_; }
  bool is_enabled() const { return enabled_; }
  /// Shows `text`, cut to the width of the terminal.
  void show(std::string text);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  bool enabled_;
  bool shown_ = false;
  Clock::time_point next_{};
};

}  // namespace howard::cli
