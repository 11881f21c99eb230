// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace howard::reports {

/// The round marks of a logarithmic axis; it begins and ends at one.
struct AxisMarks {
  std::vector<double> values;  ///< Rising, at least two.

  double low() const { return values.front(); }
  double high() const { return values.back(); }
};

/// Marks around `low` to `high`, both positive: as fine as at most `most` of them (at least 5) can
/// be. Steps of 1, 2 or 5 where the ends are less than a factor of two apart.
AxisMarks log_marks(double low, double high, std::size_t most);

}  // namespace howard::reports
