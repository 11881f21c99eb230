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
#include "engines/training/settings.h"

namespace howard::training {
namespace {

template <class Kind, std::size_t count>
using Words = std::array<std::pair<std::string_view, Kind>, count>;

constexpr Words<OptimizerKind, 8> kOptimizers{{{"adamw", OptimizerKind::adamw},
                                               {"sgd", OptimizerKind::sgd},
                                               {"fused_sgd", OptimizerKind::fused_sgd},
                                               {"moreh_adamw", OptimizerKind::moreh_adamw},
                                               {"fused_adamw", OptimizerKind::fused_adamw},
                                               {"muon", OptimizerKind::muon},
                                               {"muon_adamw", OptimizerKind::muon_adamw},
                                               {"no_op", OptimizerKind::no_op}}};
constexpr Words<ModelKind, 5> kModels{{{"nano_gpt", ModelKind::nano_gpt},
                                       {"llama", ModelKind::llama},
                                       {"qwen3", ModelKind::qwen3},
                                       {"mlp", ModelKind::mlp},
                                       {"deepseek", ModelKind::deepseek}}};
constexpr Words<ScoreFunction, 2> kScores{
    {{"sigmoid", ScoreFunction::sigmoid}, {"softmax", ScoreFunction::softmax}}};

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

void read(std::string_view name, std::string_view value, ScoreFunction& field) {
  read_word(name, value, kScores, field);
}

void read(std::string_view /*name*/, std::string_view value,
          std::vector<autograd::ScheduledPart>& field) {
  field = value == kNone ? std::vector<autograd::ScheduledPart>{}
                         : autograd::parse_schedule_parts(value);
}

void read(std::string_view /*name*/, std::string_view value, std::string& field) { field = value; }

void read(std::string_view name, std::string_view value, std::vector<std::int64_t>& field) {
  field.clear();
  for (const std::string& word : split(value, ' ')) {
    if (!word.empty()) read(name, word, field.emplace_back());
  }
}

void read(std::string_view name, std::string_view value, bool& field) {
  if (value != "true" && value != "false") refuse(name, value, "true, false");
  field = value == "true";
}

std::string text(const std::vector<autograd::ScheduledPart>& field) {
  return field.empty() ? std::string(kNone) : autograd::text_of(field);
}
std::string text(const std::string& field) { return field; }
std::string text(const std::vector<std::int64_t>& field) {
  return fmt::format("{}", fmt::join(field, " "));
}
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
std::string text(ScoreFunction field) { return word_of(kScores, field); }
/// Returns the shortest text that reads back the same.
template <class Number>
requires std::is_arithmetic_v<Number> std::string text(Number field) {
  return fmt::format("{}", field);
}

/// Returns the plan of the learning rate, which counts the least rate in shares of the base rate.
autograd::SchedulePlan schedule_of(const Recipe& recipe) {
  autograd::SchedulePlan plan = recipe.schedule;
  plan.least = recipe.least_rate / recipe.optimizer.learning_rate;
  return plan;
}

/// Returns what a setting accepts by itself, if the value is not that.
template <class Field>
std::optional<std::string> refused_by(const Range& range, const Field& field) {
  if constexpr (std::same_as<Field, DataType>) {
    if (std::ranges::find(kDataTypes, field) == kDataTypes.end()) return kAcceptedDataTypes;
  } else if constexpr (std::is_arithmetic_v<Field>) {
    if (!range.has(static_cast<double>(field))) return range.words();
  }
  return std::nullopt;
}

[[noreturn]] void refuse_name(std::string_view name) {
  throw Error({.attempted = "describe a training run",
               .value = fmt::format("'{}'", name),
               .accepted = "a setting of training runs"});
}

}  // namespace

bool Range::has(double number) const {
  const bool open_below = open && most == std::numeric_limits<double>::infinity();
  const bool open_above = open && !open_below;
  return (open_below ? number > least : number >= least) &&
         (open_above ? number < most : number <= most);
}

std::string Range::words() const {
  if (most == std::numeric_limits<double>::infinity()) {
    return open ? fmt::format("above {}", least) : fmt::format("{} or more", least);
  }
  return open ? fmt::format("{} up to {}, without {}", least, most, most)
              : fmt::format("{:.0f} to {:.0f}", least, most);
}

void set_field(Recipe& recipe, std::string_view name, std::string_view value) {
  bool found = false;
  for_each_setting(recipe, [&](const Setting& setting, auto& field) {
    if (setting.name != name) return;
    read(name, value, field);
    found = true;
  });
  if (!found) refuse_name(name);
}

std::string field_text(const Recipe& recipe, std::string_view name) {
  std::optional<std::string> found;
  for_each_setting(recipe, [&](const Setting& setting, const auto& field) {
    if (setting.name == name) found = text(field);
  });
  if (!found) refuse_name(name);
  return *found;
}

float learning_rate_of(const Recipe& recipe, std::int64_t step) {
  return recipe.optimizer.learning_rate * autograd::learning_rate_factor(schedule_of(recipe), step);
}

float beta1_of(const Recipe& recipe, std::int64_t step) {
  if (recipe.beta1.steps == 0) return recipe.optimizer.adamw.beta1;
  return autograd::ramped(recipe.beta1.start, recipe.beta1.end, recipe.beta1.steps, step);
}

void limit_to_epochs(Recipe& recipe, std::int64_t samples, std::int64_t epochs) {
  const std::int64_t steps = samples / recipe.model.batch / recipe.accumulate;
  if (steps > 0 && steps <= recipe.schedule.steps / epochs) recipe.schedule.steps = steps * epochs;
}

void require_valid(const Recipe& recipe) {
  for_each_setting(recipe, [&](const Setting& setting, const auto& field) {
    if (const auto accepted = refused_by(setting.range, field)) {
      refuse(setting.name, text(field), *accepted);
    }
  });
  for_each_setting(recipe, [&](const Setting& setting, const auto& field) {
    if (setting.rule.holds == nullptr || setting.rule.holds(recipe)) return;
    refuse(setting.name, text(field), std::string(setting.rule.words));
  });
}

}  // namespace howard::training
