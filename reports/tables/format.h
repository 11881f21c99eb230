// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/sim_time.h"

namespace howard::reports {

/// Says how the numbers of one column are written. All have one prefix and one number of decimals,
/// so that they can be compared at a glance. This is the only place that chooses either.
struct Scale {
  int exponent = 0;  ///< The shown number is the SI value over ten to this power.
  std::string unit;  ///< "us", "TFLOPS", "%"; empty if there is nothing to say.
  int decimals = 0;
};

/// Returns the scale for `values` of an SI `unit`: "s", "FLOP/s", "B", "1" for ratios, which are
/// shown as percentages, or "" for plain numbers, which are shown as they are. The prefix fits the
/// middle value, so that an outlier does not decide. The smallest value keeps four digits, within
/// three decimals. Zeros do not count; if there is nothing else, there is no prefix. Other units
/// count something ("chips") and have no prefix.
Scale fit_scale(std::string_view unit, std::span<const double> values);

/// Returns `value` in the scale's unit, unrounded: 88.82 for 88.82e-6 in microseconds.
double in_unit(double value, const Scale& scale);

/// Returns `value` in a scale that fits it, without the unit: "88.82", "10443.58". A value too
/// small for the scale's decimals, or beyond 10^9 of its unit, is written with an exponent and
/// never as 0.
std::string format_number(double value, const Scale& scale);

/// Returns `value` with the prefix that fits it alone, and its unit: "88.82 us", "13.14 TFLOPS",
/// "42.3 %".
std::string format_quantity(double value, std::string_view unit);
/// Does the same for a time.
inline std::string format_time(SimTime time) { return format_quantity(time.seconds(), "s"); }

/// Returns a number of things: "1 point", "2 points".
std::string counted(std::size_t count, std::string_view thing);

/// Returns a title with the unit of the numbers below it, "time (us)", or the title alone without a
/// unit.
std::string with_unit(std::string_view title, std::string_view unit);

/// Returns a relative error in percent with its sign: "+4.2", "-0.3", "0.0".
std::string format_error(double relative_error);

/// Returns the shortest text that reads back as `value`, for files that programs read.
std::string format_exact(double value);

}  // namespace howard::reports
