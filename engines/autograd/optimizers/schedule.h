// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace howard::autograd {

/// Names the schedules of the learning rate. TTML's configuration files name the first two; the
/// others are those of its Python trainer and of its library.
enum class Schedule : std::uint8_t {
  identity,
  /// Rises from 0 to 1 over the first tenth of the steps, then falls to 0.01.
  warmup_linear,
  /// TTML's Python schedule: rises from 0 to the largest rate, stays there, and falls to the least
  /// one.
  speedrun,
  step,        ///< Is multiplied with `gamma` after each `size` steps (TTML's StepScheduler).
  linear,      ///< Goes from `start` to `end` over `length` steps, and stays there.
  cosine,      ///< Falls from 1 to `least` over `length` steps as half a wave of a cosine.
  sequential,  ///< Follows one schedule after the other, each for its own number of steps.
};

/// A schedule of a sequence, and how many steps it has.
struct ScheduledPart {
  Schedule schedule = Schedule::identity;
  std::int64_t steps = 0;

  friend bool operator==(const ScheduledPart&, const ScheduledPart&) = default;
};

/// Describes how the learning rate changes. All but `steps` concern only the schedules named.
struct SchedulePlan {
  Schedule schedule = Schedule::identity;
  std::int64_t steps = 1;     ///< The length of the run.
  float least = 0;            ///< speedrun, cosine: the share of the base rate that is the least.
  std::int64_t warmup = 100;  ///< speedrun: in steps, as `hold`.
  std::int64_t hold = 0;      ///< speedrun.
  std::int64_t size = 0;      ///< step: in steps.
  float gamma = 0.1F;         ///< step.
  float start = 1, end = 0;   ///< linear: factors of the base rate.
  std::int64_t length = 0;    ///< linear, cosine: in steps; 0 means all of the run.
  std::vector<ScheduledPart> parts{};  ///< sequential: what comes last goes on to the end.

  friend bool operator==(const SchedulePlan&, const SchedulePlan&) = default;
};

std::string_view name_of(Schedule schedule);
/// Parses a word of name_of(). Throws Error for any other word.
Schedule parse_schedule(std::string_view word);

/// Parses the parts of a sequence, such as "linear:100,cosine:900". Throws Error for other text,
/// for speedrun and sequential, which cannot be parts, and for lengths below 1.
std::vector<ScheduledPart> parse_schedule_parts(std::string_view text);
/// Returns the text that parse_schedule_parts() reads back.
std::string text_of(const std::vector<ScheduledPart>& parts);

/// Returns what the base rate is multiplied with for step `step`, from 1. TTML's trainer asks its
/// schedule only after the optimizer has stepped, so the first step has the whole rate, and each
/// other one that of the step before. This does not hold for speedrun, which is asked before the
/// step. Within a sequence a schedule counts its own steps, and they are its length.
float learning_rate_factor(const SchedulePlan& plan, std::int64_t step);

/// Returns a number that goes from `start` to `end` over `steps` steps, counted from 1, and stays
/// there: the beta1 of TTML's speedrun.
float ramped(float start, float end, std::int64_t steps, std::int64_t step);

}  // namespace howard::autograd
