// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/calibration/error_summary.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace howard::calibration {

ErrorSummary summarise(std::vector<double> errors) {
  if (errors.empty()) return {};
  for (double& error : errors) error = std::abs(error);
  std::ranges::sort(errors);
  const std::size_t n = errors.size();
  return {.rows = n,
          .median = (errors[(n - 1) / 2] + errors[n / 2]) / 2,
          .mean = std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(n),
          .p90 = errors[(9 * n + 9) / 10 - 1],
          .worst = errors.back()};
}

ErrorSummary summarise(std::span<const Residual> residuals, std::size_t table,
                       std::size_t quantity) {
  std::vector<double> errors;
  for (const Residual& residual : residuals) {
    if (residual.table == table && residual.quantity == quantity) errors.push_back(residual.error);
  }
  return summarise(std::move(errors));
}

}  // namespace howard::calibration
