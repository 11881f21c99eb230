// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace howard::reports {

/// Holds the round marks of a logarithmic axis, which begins and ends at a mark.
struct AxisMarks {
  std::vector<double> values;  ///< They rise; there are at least two.

  double low() const { return values.front(); }
  double high() const { return values.back(); }
};

/// Returns marks around `low` to `high`, both positive, as fine as at most `most` of them (at least
/// 5) can be. The steps are 1, 2 or 5 if the ends are less than a factor of two apart.
AxisMarks log_marks(double low, double high, std::size_t most);

/// Returns the round values from `low` to `high` whose labels (format_exact()) do not touch, beside
/// each other, on a linear axis of `room` pixels; `low` is less than `high`. The steps are 1, 2 or
/// 5 times a power of ten. There may be a single mark, or none, if there is no room.
std::vector<double> linear_marks(double low, double high, double room);

/// Does the same for labels that stand above each other.
std::vector<double> linear_marks_upwards(double low, double high, double room);

}  // namespace howard::reports
