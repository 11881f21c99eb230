// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engines/chip/calibration/fit.h"

namespace howard::calibration {

/// Says how far predictions are from measurements: |predicted / measured - 1|.
struct ErrorSummary {
  std::size_t rows = 0;
  double median = 0;
  double mean = 0;
  double p90 = 0;  ///< Nine rows of ten have at most this error.
  double worst = 0;
};

/// Summarises relative errors; their signs do not count. The result is all zero when there are
/// none.
ErrorSummary summarise(std::vector<double> errors);

/// Summarises the rows of one quantity of a table. The result is all zero when there is no such
/// row.
ErrorSummary summarise(std::span<const Residual> residuals, std::size_t table,
                       std::size_t quantity);

}  // namespace howard::calibration
