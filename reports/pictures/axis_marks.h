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

}  // namespace howard::reports
