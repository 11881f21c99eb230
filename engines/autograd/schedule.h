// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace howard::autograd {

/// TTML's schedules of the learning rate.
enum class Schedule : std::uint8_t {
  identity,
  /// Rises from 0 to 1 over the first tenth of the steps, then falls to 0.01.
  warmup_linear,
  /// TTML's of Python: from 0 to the largest rate, constant, and down to the least one.
  speedrun,
};

/// What speedrun is told, besides the steps.
struct Speedrun {
  float least = 0;  ///< Share of the largest rate that the last step has.
  std::int64_t warmup = 100;
  std::int64_t hold = 0;
};

std::string_view name_of(Schedule schedule);
/// The inverse of name_of. Throws Error for any other word.
Schedule parse_schedule(std::string_view word);

/// What the base rate is multiplied with for step `step` of `steps`, both from 1. As TTML's trainer
/// asks its schedule only after the optimizer has stepped, the first step has the whole rate, and
/// the others that of the step before.
/// That does not concern speedrun, which is asked before.
float learning_rate_factor(Schedule schedule, std::int64_t step, std::int64_t steps,
                           const Speedrun& speedrun = {});

}  // namespace howard::autograd
