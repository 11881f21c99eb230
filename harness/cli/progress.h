// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace howard::cli {

/// A progress bar on standard error: "matmul_sweep [######....] 7/18 host/shape:1024x1024x1024".
/// Shown only on a terminal and only once a run has taken a moment, so that short runs stay quiet.
class Progress {
 public:
  /// `enabled` false, or no terminal: nothing is ever printed.
  Progress(std::string title, std::size_t total, bool enabled);
  /// Removes the bar.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(const std::string& finished);

 private:
  std::string title_;
  std::size_t total_;
  std::size_t done_ = 0;
  bool enabled_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace howard::cli
