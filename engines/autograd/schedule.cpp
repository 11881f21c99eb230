// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/schedule.h"

#include <algorithm>
#include <string>

#include "base/error.h"

namespace howard::autograd {

namespace {

float speedrun_factor(const Speedrun& speedrun, std::int64_t step, std::int64_t steps) {
  if (step <= speedrun.warmup) {
    return static_cast<float>(step) / static_cast<float>(speedrun.warmup);
  }
  const std::int64_t falls = speedrun.warmup + speedrun.hold;
  if (step <= falls) return 1;
  if (step >= steps) return speedrun.least;
  return 1 + (speedrun.least - 1) * static_cast<float>(step - falls) /
                 static_cast<float>(steps - falls);
}

}  // namespace

std::string_view name_of(Schedule schedule) {
  if (schedule == Schedule::speedrun) return "speedrun";
  return schedule == Schedule::identity ? "identity" : "warmup_linear";
}

Schedule parse_schedule(std::string_view word) {
  for (const Schedule schedule :
       {Schedule::identity, Schedule::warmup_linear, Schedule::speedrun}) {
    if (name_of(schedule) == word) return schedule;
  }
  throw Error({.attempted = "read a schedule of the learning rate",
               .value = "'" + std::string(word) + "'",
               .accepted = "identity, warmup_linear, speedrun",
               .hint = ""});
}

float learning_rate_factor(Schedule schedule, std::int64_t step, std::int64_t steps,
                           const Speedrun& speedrun) {
  if (schedule == Schedule::speedrun) return speedrun_factor(speedrun, step, steps);
  if (schedule == Schedule::identity || step <= 1) return 1;
  const std::int64_t asked = std::min(step - 1, steps);
  const std::int64_t warm = steps / 10;
  if (asked <= warm) return static_cast<float>(asked) / static_cast<float>(warm);
  constexpr float kLast = 0.01F;
  return 1 + (kLast - 1) * static_cast<float>(asked - warm) / static_cast<float>(steps - warm);
}

}  // namespace howard::autograd
