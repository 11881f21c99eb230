// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/axis.h"
#include "harness/result.h"

namespace howard::experiments {

/// Is all that there is to know of an axis whose values are of type T: its name, how a value is
/// read and written, and what a point has that is without it.
template <class T>
struct TypedAxis {
  std::string name;
  std::string meaning;
  std::function<T(std::string_view)> parse;    ///< Reads any spelling; throws Error for no value.
  std::function<std::string(const T&)> print;  ///< Returns the one spelling that results use.
  /// The spelling of the value at which a point is what it is without the axis; empty if none is.
  std::string neutral = {};
  std::vector<std::string> choices = {};  ///< All values, if they are a closed list of words.

  /// Returns the same axis in the words of an experiment.
  TypedAxis means(std::string text) const {
    TypedAxis axis = *this;
    axis.meaning = std::move(text);
    return axis;
  }

  /// Returns the axis with default values, in the order in which they run.
  harness::Axis with(const std::vector<std::string>& values,
                     const std::vector<std::string>& quick_values) const {
    harness::Axis axis{
        .name = name,
        .meaning = meaning,
        .values = values,
        .quick_values = quick_values,
        .canonical = [*this](std::string_view value) { return print(parse(value)); }};
    if (!choices.empty()) axis.meaning = harness::word_axis(name, meaning, choices, {}).meaning;
    return axis;
  }
  harness::Axis with(const std::vector<std::string>& values) const { return with(values, values); }

  /// Returns the axis for points that have it only if a user asks for another value than the
  /// neutral one.
  harness::Axis optional() const {
    harness::Axis axis = with({});
    axis.neutral = neutral;
    return axis;
  }

  using Words = std::vector<std::string>;

  /// Returns the axis with a closed list of words; `values` and `quick_values` are some of them.
  harness::Axis of(std::string text, const Words& words, const Words& values,
                   const Words& quick_values) const {
    harness::Axis axis = harness::word_axis(name, std::move(text), words, values);
    axis.quick_values = quick_values;
    return axis;
  }
  harness::Axis of(std::string text, const Words& words, const Words& values) const {
    return of(std::move(text), words, values, values);
  }
  harness::Axis of(std::string text, const Words& words) const {
    return of(std::move(text), words, words, words);
  }
  /// Returns the axis for points that have it only if a user asks for it.
  harness::Axis optional_of(std::string text, const Words& words) const {
    harness::Axis axis = of(std::move(text), words, {}, {});
    axis.neutral = neutral;
    return axis;
  }

  /// Returns the change of a point to `value`.
  std::pair<std::string, std::string> at(const T& value) const { return {name, print(value)}; }
};

/// Is an axis of words that name things of which there may be more: models, files, subjects.
struct WordAxis : TypedAxis<std::string> {
  explicit WordAxis(std::string axis, std::string neutral_word = {})
      : TypedAxis<std::string>{.name = std::move(axis),
                               .meaning = {},
                               .parse = [](std::string_view word) { return std::string(word); },
                               .print = [](const std::string& word) { return word; },
                               .neutral = std::move(neutral_word)} {}
};

/// Makes an axis of a closed list of words, each of which stands for a value.
template <class T>
TypedAxis<T> choice_axis(std::string name, std::string meaning,
                         std::vector<std::pair<std::string, T>> choices, std::string neutral = {}) {
  std::vector<std::string> words;
  for (const auto& [word, value] : choices) words.push_back(word);
  auto canonical = harness::word_axis(name, meaning, words, words).canonical;
  return {.name = std::move(name),
          .meaning = std::move(meaning),
          .parse =
              [choices, canonical](std::string_view text) {
                const std::string word = canonical(text);
                return std::ranges::find(choices, word, &std::pair<std::string, T>::first)->second;
              },
          .print =
              [choices](const T& value) {
                return std::ranges::find(choices, value, &std::pair<std::string, T>::second)->first;
              },
          .neutral = std::move(neutral),
          .choices = std::move(words)};
}

/// Is a point as an experiment reads it: `point[kDispatch]` is a DispatchCoreType. It refers to the
/// parameters, which must outlive it.
class Point {
 public:
  Point(const harness::Parameters& parameters)  // NOLINT(*-explicit-*)
      : parameters_(parameters) {}

  const harness::Parameters& parameters() const { return parameters_; }

  template <class T>
  bool has(const TypedAxis<T>& axis) const {
    return harness::find_parameter(parameters_, axis.name).has_value();
  }

  /// Returns the point's value, or the neutral one. Throws Error if there is neither.
  template <class T>
  T operator[](const TypedAxis<T>& axis) const {
    return axis.parse(text(axis.name, axis.neutral));
  }

  /// Returns the point's value, or `otherwise`.
  template <class T>
  T get(const TypedAxis<T>& axis, const T& otherwise) const {
    return has(axis) ? (*this)[axis] : otherwise;
  }

 private:
  /// Returns the value of the axis as the point spells it, or `neutral`. Throws Error if both are
  /// missing.
  std::string_view text(std::string_view axis, std::string_view neutral) const;

  const harness::Parameters& parameters_;
};

}  // namespace howard::experiments
