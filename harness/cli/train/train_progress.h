// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/units.h"
#include "harness/cli/terminal/status_line.h"

namespace howard::cli {

/// Holds where a training run is after a step.
struct TrainState {
  std::int64_t step = 0;
  std::int64_t steps = 0;
  double loss = 0;  ///< The mean since the last line that stayed.
  double tokens_per_second = 0;
  double flops_per_second = 0;  ///< 0 if it is not known.
  std::string bound;            ///< "kernels: matmul 82 %"; empty if it is not known.
  float learning_rate = 0;
  Bytes memory;  ///< The most memory that was in use at once.
};

/// Returns "step 100/1000  loss 2.4312  12345 tokens/s  210 GFLOPS  bound by kernels: matmul 82 %
/// learning rate 0.0003  memory 53.1 MiB".
std::string train_line(const TrainState& state);

/// Prints the lines of a training run on standard error: one that each step renews on a terminal,
/// and others that stay.
class TrainProgress {
 public:
  /// If `enabled` is false or there is no terminal, only the lines that stay are printed.
  explicit TrainProgress(bool enabled) : line_(enabled) {}

  /// Returns whether the line of the next step should say what bounds it; once a second is enough.
  bool wants_bound();

  void renew(const TrainState& state);
  void keep(const TrainState& state);
  /// Removes the line that is renewed.
  void clear() { line_.clear(); }

 private:
  StatusLine line_;
  std::chrono::steady_clock::time_point next_bound_{};
};

}  // namespace howard::cli
