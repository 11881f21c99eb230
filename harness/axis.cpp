// SPDX-License-Identifier: Apache-2.0
#include "harness/axis.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "base/usual_names.h"

namespace howard::harness {

Axis word_axis(std::string name, std::string meaning, std::vector<std::string> words,
               std::vector<std::string> defaults) {
  const std::string all = join(words, ", ");
  if (meaning.find(all) == std::string::npos) meaning += " (" + all + ")";
  auto canonical = [name, words = std::move(words)](std::string_view value) {
    if (const auto word = std::ranges::find(words, value); word != words.end()) return *word;
    const auto suggestion = closest(value, words);
    throw Error({.attempted = "set axis " + name,
                 .value = "'" + std::string(value) + "'",
                 .accepted = join(words, ", "),
                 .hint = suggestion ? "-a " + name + "=" + *suggestion : ""});
  };
  return {.name = std::move(name),
          .meaning = std::move(meaning),
          .values = defaults,
          .quick_values = std::move(defaults),
          .canonical = std::move(canonical)};
}

AxisOverride parse_axis_override(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size()) {
    throw Error({.attempted = "read option -a",
                 .value = "'" + std::string(text) + "'",
                 .accepted = "AXIS=VALUE,VALUE,...",
                 .hint = "-a " + std::string(text.substr(0, equals)) + "=VALUE"});
  }
  return {.axis = std::string(text.substr(0, equals)),
          .values = split(text.substr(equals + 1), ',')};
}

std::vector<AxisOverride> parse_axis_overrides(std::span<const std::string> texts) {
  std::vector<AxisOverride> overrides;
  for (const std::string& text : texts) {
    AxisOverride override = parse_axis_override(text);
    const auto earlier = std::ranges::find(overrides, override.axis, &AxisOverride::axis);
    if (earlier != overrides.end()) {
      const std::string values = join(earlier->values, ",");
      throw Error(
          {.attempted = "set axis " + override.axis,
           .value = "it is given twice, as " + values + " and as " + join(override.values, ","),
           .accepted = "each axis once",
           .hint = "-a " + shell_word(text + "," + values)});
    }
    overrides.push_back(std::move(override));
  }
  return overrides;
}

namespace {

/// Returns the one spelling of a value, which may be a usual name of it. Throws Error for others.
std::string canonical_of(const Axis& axis, const std::string& value) {
  try {
    return axis.canonical(value);
  } catch (const Error&) {
    for (const std::string_view name : other_names(value)) {
      try {
        return axis.canonical(name);
      } catch (const Error&) {
        continue;  // an axis has one of the names, or none
      }
    }
    throw;
  }
}

}  // namespace

void apply_overrides(std::vector<Axis>& axes, std::span<const AxisOverride> overrides) {
  for (const AxisOverride& override : overrides) {
    const auto axis = std::ranges::find(axes, override.axis, &Axis::name);
    if (axis == axes.end()) continue;
    axis->values.clear();
    for (const std::string& value : override.values) {
      const std::string canonical = canonical_of(*axis, value);
      if (std::ranges::find(axis->values, canonical) == axis->values.end()) {
        axis->values.push_back(canonical);
      }
    }
  }
}

std::vector<Parameters> expand(std::span<const Axis> axes) {
  std::vector<Parameters> points{{}};
  for (const Axis& axis : axes) {
    if (axis.values.empty()) continue;
    std::vector<Parameters> longer;
    longer.reserve(points.size() * axis.values.size());
    for (const Parameters& point : points) {
      for (const std::string& value : axis.values) {
        longer.push_back(point);
        if (value != axis.neutral) longer.back().emplace_back(axis.name, value);
      }
    }
    points = std::move(longer);
  }
  return points;
}

}  // namespace howard::harness
