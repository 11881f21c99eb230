// SPDX-License-Identifier: Apache-2.0
#include "engines/training/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace howard::training {
namespace {

template <class Kind, std::size_t count>
using Words = std::array<std::pair<std::string_view, Kind>, count>;

constexpr Words<OptimizerKind, 6> kOptimizers{{{"adamw", OptimizerKind::adamw},
                                               {"sgd", OptimizerKind::sgd},
                                               {"fused_sgd", OptimizerKind::fused_sgd},
                                               {"moreh_adamw", OptimizerKind::moreh_adamw},
                                               {"fused_adamw", OptimizerKind::fused_adamw},
                                               {"no_op", OptimizerKind::no_op}}};
constexpr Words<ModelKind, 2> kModels{
    {{"nano_gpt", ModelKind::nano_gpt}, {"llama", ModelKind::llama}}};

constexpr std::array kDataTypes{DataType::bfloat16, DataType::float32};
/// The text of a field without one.
constexpr std::string_view kNone = "none";

constexpr const char* kAcceptedDataTypes = "bfloat16, float32";

[[noreturn]] void refuse(std::string_view name, std::string_view value, std::string accepted) {
  throw Error({.attempted = fmt::format("set {} of a training run", name),
               .value = fmt::format("'{}'", value),
               .accepted = std::move(accepted)});
}

template <std::integral Whole>
requires(!std::same_as<Whole, bool>) void read(std::string_view name, std::string_view value,
                                               Whole& field) {
  const std::optional<std::int64_t> number = parse_integer(value);
  if (!number || !std::in_range<Whole>(*number)) refuse(name, value, "a whole number");
  field = static_cast<Whole>(*number);
}

void read(std::string_view name, std::string_view value, float& field) {
  const std::optional<double> number = parse_number(value);
  if (!number || std::abs(*number) > double{std::numeric_limits<float>::max()})
    refuse(name, value, "a number");
  field = static_cast<float>(*number);
}

void read(std::string_view name, std::string_view value, DataType& field) {
  for (const DataType type : kDataTypes) {
    if (value != name_of(type)) continue;
    field = type;
    return;
  }
  refuse(name, value, kAcceptedDataTypes);
}

void read(std::string_view /*name*/, std::string_view value, autograd::Schedule& field) {
  field = autograd::parse_schedule(value);
}

/// Reads one of some words. Throws Error for any other.
template <class Kind, std::size_t count>
void read_word(std::string_view name, std::string_view value, const Words<Kind, count>& words,
               Kind& field) {
  std::string accepted;
  for (const auto& [word, kind] : words) {
    if (value == word) {
      field = kind;
      return;
    }
    accepted += (accepted.empty() ? "" : ", ") + std::string(word);
  }
  refuse(name, value, accepted);
}

void read(std::string_view name, std::string_view value, OptimizerKind& field) {
  read_word(name, value, kOptimizers, field);
}

void read(std::string_view name, std::string_view value, ModelKind& field) {
  read_word(name, value, kModels, field);
}

void read(std::string_view /*name*/, std::string_view value, std::string& field) {
  field = value == kNone ? "" : value;
  if (!field.empty()) static_cast<void>(autograd::parse_schedule_parts(field));
}

void read(std::string_view name, std::string_view value, bool& field) {
  if (value != "true" && value != "false") refuse(name, value, "true, false");
  field = value == "true";
}

std::string text(const std::string& field) { return field.empty() ? std::string(kNone) : field; }
std::string text(DataType field) { return std::string(name_of(field)); }
std::string text(autograd::Schedule field) { return std::string(name_of(field)); }
template <class Kind, std::size_t count>
std::string word_of(const Words<Kind, count>& words, Kind field) {
  for (const auto& [word, kind] : words) {
    if (kind == field) return std::string(word);
  }
  return "";
}
std::string text(OptimizerKind field) { return word_of(kOptimizers, field); }
std::string text(ModelKind field) { return word_of(kModels, field); }
/// Returns the shortest text that reads back the same.
template <class Number>
requires std::is_arithmetic_v<Number> std::string text(Number field) {
  return fmt::format("{}", field);
}

/// These whole numbers may be 0; all others are 1 or more.
constexpr std::array kFromZero{std::string_view("seed"),        std::string_view("warmup"),
                               std::string_view("hold"),        std::string_view("feed-forward"),
                               std::string_view("rope-length"), std::string_view("beta1-warmup"),
                               std::string_view("step-size"),   std::string_view("schedule-steps")};

bool is_adamw(const Recipe& recipe) {
  return recipe.optimizer == OptimizerKind::adamw || recipe.optimizer == OptimizerKind::fused_adamw;
}

bool is_share(float value) { return value >= 0 && value < 1; }

autograd::SchedulePlan schedule_of(const Recipe& recipe) {
  return {.schedule = recipe.schedule,
          .steps = recipe.steps,
          .least = recipe.least_rate / recipe.learning_rate,
          .warmup = recipe.warmup,
          .hold = recipe.hold,
          .size = recipe.step_size,
          .gamma = recipe.gamma,
          .start = recipe.start_factor,
          .end = recipe.end_factor,
          .length = recipe.schedule_steps,
          .parts = recipe.schedules.empty() ? std::vector<autograd::ScheduledPart>{}
                                            : autograd::parse_schedule_parts(recipe.schedules)};
}

/// Returns whether the schedule, or a part of the sequence, is of this kind.
bool has_schedule(const Recipe& recipe, autograd::Schedule schedule) {
  if (recipe.schedule == schedule) return true;
  const autograd::SchedulePlan plan = schedule_of(recipe);
  return std::ranges::find(plan.parts, schedule, &autograd::ScheduledPart::schedule) !=
         plan.parts.end();
}

[[noreturn]] void refuse_name(std::string_view name) {
  throw Error({.attempted = "describe a training run",
               .value = fmt::format("'{}'", name),
               .accepted = "a setting of training runs"});
}

}  // namespace

void set_field(Recipe& recipe, std::string_view name, std::string_view value) {
  bool found = false;
  for_each_field(recipe, [&](std::string_view known, auto& field) {
    if (known != name) return;
    read(name, value, field);
    found = true;
  });
  if (!found) refuse_name(name);
}

std::string field_text(const Recipe& recipe, std::string_view name) {
  std::optional<std::string> found;
  for_each_field(recipe, [&](std::string_view known, const auto& field) {
    if (known == name) found = text(field);
  });
  if (!found) refuse_name(name);
  return *found;
}

float learning_rate_of(const Recipe& recipe, std::int64_t step) {
  return recipe.learning_rate * autograd::learning_rate_factor(schedule_of(recipe), step);
}

float beta1_of(const Recipe& recipe, std::int64_t step) {
  if (recipe.beta1_warmup == 0) return recipe.beta1;
  return autograd::ramped(recipe.beta1_start, recipe.beta1_end, recipe.beta1_warmup, step);
}

void require_valid(const Recipe& recipe) {
  const auto require = [&](bool valid, std::string_view name, const char* accepted) {
    if (!valid) refuse(name, field_text(recipe, name), accepted);
  };
  for_each_field(recipe, [&](std::string_view name, const auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    if constexpr (std::integral<Field> && !std::same_as<Field, bool>) {
      const bool from_zero = std::ranges::find(kFromZero, name) != kFromZero.end();
      require(std::cmp_greater_equal(field, from_zero ? 0 : 1), name,
              from_zero ? "0 or more" : "1 or more");
    }
  });
  require(recipe.width % recipe.heads == 0, "heads", "a divisor of the width");
  require(recipe.dropout >= 0 && recipe.dropout < 1, "dropout", "0 up to 1, without 1");
  require(recipe.learning_rate > 0, "learning-rate", "above 0");
  require(recipe.weight_decay >= 0, "weight-decay", "0 or more");
  require(recipe.clip >= 0, "clip", "0 (off) or more");
  for (const auto& [name, beta] :
       {std::pair("beta1", recipe.beta1), std::pair("beta2", recipe.beta2),
        std::pair("beta1-start", recipe.beta1_start), std::pair("beta1-end", recipe.beta1_end)}) {
    require(is_share(beta), name, "0 up to 1, without 1");
  }
  require(recipe.epsilon >= 0, "epsilon", "0 or more");
  const char* const adamws = "true with adamw or fused_adamw";
  require(!recipe.kahan || is_adamw(recipe), "kahan", adamws);
  require(!recipe.amsgrad || is_adamw(recipe), "amsgrad", adamws);
  require(!recipe.stochastic_rounding || (recipe.optimizer == OptimizerKind::fused_adamw &&
                                          recipe.parameters == DataType::bfloat16),
          "stochastic-rounding", "true with fused_adamw and parameters of bfloat16");
  require(recipe.gamma > 0, "gamma", "above 0");
  require(recipe.start_factor >= 0, "start-factor", "0 or more");
  require(recipe.end_factor >= 0, "end-factor", "0 or more");
  require(!has_schedule(recipe, autograd::Schedule::step) || recipe.step_size > 0, "step-size",
          "1 or more with the schedule step");
  require((recipe.schedule == autograd::Schedule::sequential) == !recipe.schedules.empty(),
          "schedules", "linear:100,cosine:900, with the schedule sequential");
  require(recipe.sgd_decay >= 0, "sgd-decay", "0 or more");
  require(recipe.momentum >= 0, "momentum", "0 or more");
  require(!recipe.nesterov || (recipe.momentum > 0 && recipe.dampening == 0), "nesterov",
          "true with a momentum and without dampening");
  require(recipe.least_rate >= 0, "least-rate", "0 or more");
  for (const auto& [name, dtype] :
       {std::pair("dtype", recipe.dtype), std::pair("parameters", recipe.parameters)}) {
    require(std::ranges::find(kDataTypes, dtype) != kDataTypes.end(), name, kAcceptedDataTypes);
  }
  require(recipe.parameters == DataType::float32 || recipe.dtype == DataType::bfloat16,
          "parameters", "float32 with a dtype of float32");
  const bool llama = recipe.model == ModelKind::llama;
  require(!recipe.composite_rmsnorm || llama, "composite-rmsnorm", "true for a llama");
  require(!recipe.fused_swiglu || llama, "fused-swiglu", "true for a llama");
  if (!llama) return;
  require(recipe.heads % recipe.groups == 0, "groups", "a divisor of the heads");
  require(recipe.width / recipe.heads % 2 == 0, "heads", "heads of an even width");
  require(recipe.theta > 0, "theta", "above 0");
  require(recipe.rope_factor >= 0, "rope-factor", "0 (off) or more");
  require(recipe.rope_factor == 0 || recipe.rope_length > 0, "rope-length",
          "1 or more with a rope-factor");
  require(recipe.rope_factor == 0 || (recipe.rope_low > 0 && recipe.rope_high > recipe.rope_low),
          "rope-high", "above rope-low, which is above 0");
}

}  // namespace howard::training
