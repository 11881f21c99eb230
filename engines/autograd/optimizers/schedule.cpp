// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/optimizers/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace howard::autograd {
namespace {

constexpr std::array<std::pair<std::string_view, Schedule>, 7> kSchedules{
    {{"identity", Schedule::identity},
     {"warmup_linear", Schedule::warmup_linear},
     {"speedrun", Schedule::speedrun},
     {"step", Schedule::step},
     {"linear", Schedule::linear},
     {"cosine", Schedule::cosine},
     {"sequential", Schedule::sequential}}};

/// Returns a / b for counts.
float share_of(std::int64_t a, std::int64_t b) {
  return static_cast<float>(a) / static_cast<float>(b);
}

float speedrun_factor(const SchedulePlan& plan, std::int64_t step) {
  if (step <= plan.warmup) return share_of(step, plan.warmup);
  const std::int64_t falls = plan.warmup + plan.hold;
  if (step <= falls) return 1;
  if (step >= plan.steps) return plan.least;
  return 1 + (plan.least - 1) * share_of(step - falls, plan.steps - falls);
}

float warmup_linear_factor(std::int64_t asked, std::int64_t steps) {
  asked = std::min(asked, steps);
  const std::int64_t warm = steps / 10;
  if (asked <= warm) return share_of(asked, warm);
  constexpr float kLast = 0.01F;
  return 1 + (kLast - 1) * share_of(asked - warm, steps - warm);
}

/// Returns the factor after a schedule has been asked `asked` times; `steps` is its length.
float factor_after(const SchedulePlan& plan, Schedule schedule, std::int64_t asked,
                   std::int64_t steps) {
  switch (schedule) {
    case Schedule::warmup_linear:
      return warmup_linear_factor(asked, steps);
    case Schedule::step:
      return std::pow(plan.gamma, static_cast<float>(asked / plan.size));
    case Schedule::linear:
      return plan.start + (plan.end - plan.start) * share_of(std::min(asked, steps), steps);
    case Schedule::cosine: {
      const float angle = std::numbers::pi_v<float> * share_of(std::min(asked, steps), steps);
      return plan.least + (1 - plan.least) * (1 + std::cos(angle)) / 2;
    }
    case Schedule::identity:
    case Schedule::speedrun:
    case Schedule::sequential:
      break;
  }
  return 1;
}

float sequential_factor(const SchedulePlan& plan, std::int64_t asked) {
  for (std::size_t i = 0; i < plan.parts.size(); ++i) {
    const auto [schedule, steps] = plan.parts[i];
    if (asked <= steps || i + 1 == plan.parts.size()) {
      return factor_after(plan, schedule, asked, steps);
    }
    asked -= steps;
  }
  return 1;
}

[[noreturn]] void refuse_parts(std::string_view text) {
  throw Error({.attempted = "read a sequence of schedules",
               .value = fmt::format("'{}'", text),
               .accepted = "identity, warmup_linear, step, linear or cosine, each with its steps: "
                           "linear:100,cosine:900"});
}

}  // namespace

std::string_view name_of(Schedule schedule) {
  for (const auto& [name, known] : kSchedules) {
    if (known == schedule) return name;
  }
  return "";
}

Schedule parse_schedule(std::string_view word) {
  std::string accepted;
  for (const auto& [name, schedule] : kSchedules) {
    if (name == word) return schedule;
    accepted += (accepted.empty() ? "" : ", ") + std::string(name);
  }
  throw Error({.attempted = "read a schedule of the learning rate",
               .value = "'" + std::string(word) + "'",
               .accepted = accepted});
}

std::vector<ScheduledPart> parse_schedule_parts(std::string_view text) {
  std::vector<ScheduledPart> parts;
  for (const std::string& part : split(text, ',')) {
    const std::size_t colon = part.find(':');
    if (colon == std::string::npos) refuse_parts(text);
    const Schedule schedule = parse_schedule(part.substr(0, colon));
    const std::optional<std::int64_t> steps = parse_integer(part.substr(colon + 1));
    const bool is_part = schedule != Schedule::speedrun && schedule != Schedule::sequential;
    if (!is_part || !steps || *steps < 1) refuse_parts(text);
    parts.push_back({schedule, *steps});
  }
  return parts;
}

std::string text_of(const std::vector<ScheduledPart>& parts) {
  std::string text;
  for (const auto& [schedule, steps] : parts) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", name_of(schedule), steps);
  }
  return text;
}

float learning_rate_factor(const SchedulePlan& plan, std::int64_t step) {
  if (plan.schedule == Schedule::speedrun) return speedrun_factor(plan, step);
  if (step <= 1) return 1;
  if (plan.schedule == Schedule::sequential) return sequential_factor(plan, step - 1);
  const bool own = plan.schedule == Schedule::linear || plan.schedule == Schedule::cosine;
  return factor_after(plan, plan.schedule, step - 1,
                      own && plan.length > 0 ? plan.length : plan.steps);
}

float ramped(float start, float end, std::int64_t steps, std::int64_t step) {
  return start + (end - start) * share_of(std::min(step, steps), steps);
}

}  // namespace howard::autograd
