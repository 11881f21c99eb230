// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/result.h"

namespace howard::harness {

/// Describes one dimension of a sweep.
struct Axis {
  std::string name;     ///< "shape"
  std::string meaning;  ///< For --help and errors: "MxKxN, or N for a square product".
  /// Holds the default values in the order in which they run. If it is empty, points have the axis
  /// only if a user asks for it; without it they run as `meaning` says.
  std::vector<std::string> values;
  std::vector<std::string> quick_values;  ///< The values that --quick uses.
  /// Returns the one spelling of a value that results use ("512" -> "512x512x512"). Throws Error
  /// for a value that the axis can never have.
  std::function<std::string(std::string_view)> canonical;
  /// The value at which a point is what it is without the axis, and which it therefore does not
  /// have; empty if every value is a point's.
  std::string neutral = {};
};

/// Makes an axis whose values are a closed list of words, all of which are the default.
Axis word_axis(std::string name, std::string meaning, std::vector<std::string> words,
               std::vector<std::string> defaults);

/// Replaces the values of an axis, as in "-a NAME=V1,V2".
struct AxisOverride {
  std::string axis;
  std::vector<std::string> values;
};

/// Parses NAME=V1,V2,... and throws Error for any other text.
AxisOverride parse_axis_override(std::string_view text);

/// Parses all -a options of a command line. Throws Error if two of them name the same axis, because
/// keeping the last one, or both, would be a guess.
std::vector<AxisOverride> parse_axis_overrides(std::span<const std::string> texts);

/// Replaces the values of each axis in `axes` that an override names, and leaves other overrides to
/// the caller. A value that is given twice is kept once. Throws Error for a value that an axis
/// cannot have.
void apply_overrides(std::vector<Axis>& axes, std::span<const AxisOverride> overrides);

/// Returns the cartesian product in declared order; the last axis varies fastest. Axes without
/// values are left out, and so are neutral values.
std::vector<Parameters> expand(std::span<const Axis> axes);

}  // namespace howard::harness
