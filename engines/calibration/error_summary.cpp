// SPDX-License-Identifier: Apache-2.0
#include "engines/calibration/error_summary.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace howard::calibration {

ErrorSummary summarise(std::span<const Residual> residuals, std::size_t table,
                       std::size_t quantity) {
  std::vector<double> sizes;
  for (const Residual& residual : residuals) {
    if (residual.table == table && residual.quantity == quantity) {
      sizes.push_back(std::abs(residual.error));
    }
  }
  if (sizes.empty()) return {};
  std::ranges::sort(sizes);
  const std::size_t n = sizes.size();
  return {.rows = n,
          .median = (sizes[(n - 1) / 2] + sizes[n / 2]) / 2,
          .p90 = sizes[(9 * n + 9) / 10 - 1],
          .worst = sizes.back()};
}

}  // namespace howard::calibration
