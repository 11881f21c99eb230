// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/result.h"

namespace howard::harness {

/// One dimension of a sweep.
struct Axis {
  std::string name;     ///< "shape"
  std::string meaning;  ///< For --help and errors: "MxKxN, or N for a square product".
  /// Default values, in the order they run. None: points have the axis only when it is asked for,
  /// and without it run as `meaning` says.
  std::vector<std::string> values;
  std::vector<std::string> quick_values;  ///< Those of --quick.
  /// The one spelling of a value that results carry ("512" -> "512x512x512").
  /// Error for a value the axis can never have.
  std::function<std::string(std::string_view)> canonical;
};

/// An axis whose values are a closed list of words, all of them the default.
Axis word_axis(std::string name, std::string meaning, std::vector<std::string> words,
               std::vector<std::string> defaults);

/// "-a NAME=V1,V2": replaces the values of an axis.
struct AxisOverride {
  std::string axis;
  std::vector<std::string> values;
};

/// Error when `text` is not NAME=V1,V2,...
AxisOverride parse_axis_override(std::string_view text);

/// Those of all options -a of a command line. Error when two of them name the same axis: keeping
/// the last one, or both, would be a guess.
std::vector<AxisOverride> parse_axis_overrides(std::span<const std::string> texts);

/// Replaces values by the overrides that name an axis of `axes`; others are left to the caller.
/// Values given twice are kept once. Error for a value an axis can not have.
void apply_overrides(std::vector<Axis>& axes, std::span<const AxisOverride> overrides);

/// `axis` without values of its own.
Axis optional_axis(Axis axis);

/// The cartesian product in declared order, the last axis fastest; axes without values are left
/// out.
std::vector<Parameters> expand(std::span<const Axis> axes);

}  // namespace howard::harness
