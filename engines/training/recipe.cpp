// SPDX-License-Identifier: Apache-2.0
#include "engines/training/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace howard::training {
namespace {

constexpr std::string_view kAdamW = "adamw";
constexpr std::string_view kSgd = "sgd";

constexpr std::array kDataTypes{DataType::bfloat16, DataType::float32};
constexpr const char* kAcceptedDataTypes = "bfloat16, float32";

[[noreturn]] void refuse(std::string_view name, std::string_view value, std::string accepted) {
  throw Error({.attempted = fmt::format("set {} of a training run", name),
               .value = fmt::format("'{}'", value),
               .accepted = std::move(accepted),
               .hint = ""});
}

template <std::integral Whole>
void read(std::string_view name, std::string_view value, Whole& field) {
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

void read(std::string_view name, std::string_view value, OptimizerKind& field) {
  if (value != kAdamW && value != kSgd) refuse(name, value, "adamw, sgd");
  field = value == kAdamW ? OptimizerKind::adamw : OptimizerKind::sgd;
}

std::string text(DataType field) { return std::string(name_of(field)); }
std::string text(autograd::Schedule field) { return std::string(name_of(field)); }
std::string text(OptimizerKind field) {
  return std::string(field == OptimizerKind::adamw ? kAdamW : kSgd);
}
/// Returns the shortest text that reads back as the same number.
template <class Number>
requires std::is_arithmetic_v<Number> std::string text(Number field) {
  return fmt::format("{}", field);
}

[[noreturn]] void refuse_name(std::string_view name) {
  throw Error({.attempted = "describe a training run",
               .value = fmt::format("'{}'", name),
               .accepted = "a setting of training runs",
               .hint = ""});
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

void require_valid(const Recipe& recipe) {
  const auto require = [&](bool valid, std::string_view name, const char* accepted) {
    if (!valid) refuse(name, field_text(recipe, name), accepted);
  };
  for_each_field(recipe, [&](std::string_view name, const auto& field) {
    if constexpr (std::integral<std::remove_cvref_t<decltype(field)>>) {
      require(name == "seed" || field >= 1, name, "1 or more");
    }
  });
  require(recipe.width % recipe.heads == 0, "heads", "a divisor of the width");
  require(recipe.dropout >= 0 && recipe.dropout < 1, "dropout", "0 up to 1, without 1");
  require(recipe.learning_rate > 0, "learning-rate", "above 0");
  require(recipe.weight_decay >= 0, "weight-decay", "0 or more");
  require(recipe.clip >= 0, "clip", "0 (off) or more");
  require(std::ranges::find(kDataTypes, recipe.dtype) != kDataTypes.end(), "dtype",
          kAcceptedDataTypes);
}

}  // namespace howard::training
