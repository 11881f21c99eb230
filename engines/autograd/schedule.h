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
};

std::string_view name_of(Schedule schedule);
/// The inverse of name_of. Throws Error for any other word.
Schedule parse_schedule(std::string_view word);

/// Returns the factor of the base rate for step `step` of `steps`, both counted from 1. TTML's
/// trainer asks its schedule only after the optimizer has stepped, so the first step has the whole
/// rate and each other step has the rate that belongs to the step before.
float learning_rate_factor(Schedule schedule, std::int64_t step, std::int64_t steps);

}  // namespace howard::autograd
