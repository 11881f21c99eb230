// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace howard::autograd {

/// Names TTML's schedules of the learning rate.
enum class Schedule : std::uint8_t {
  identity,
  /// Rises from 0 to 1 over the first tenth of the steps, then falls to 0.01.
  warmup_linear,
  /// TTML's Python schedule: rises from 0 to the largest rate, stays there, and falls to the least
  /// one.
  speedrun,
};

/// The parameters of speedrun, besides the steps.
struct Speedrun {
  float least = 0;  ///< The share of the largest rate that the last step has.
  std::int64_t warmup = 100;
  std::int64_t hold = 0;
};

std::string_view name_of(Schedule schedule);
/// Parses a word of name_of(). Throws Error for any other word.
Schedule parse_schedule(std::string_view word);

/// Returns what the base rate is multiplied with for step `step` of `steps`, both from 1. TTML's
/// trainer asks its schedule only after the optimizer has stepped, so the first step has the whole
/// rate, and each other one that of the step before. This does not hold for speedrun, which is
/// asked before the step.
float learning_rate_factor(Schedule schedule, std::int64_t step, std::int64_t steps,
                           const Speedrun& speedrun = {});

}  // namespace howard::autograd
