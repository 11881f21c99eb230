// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/calibration/certainty.h"

#include <algorithm>
#include <cmath>

namespace howard::calibration {
namespace {

constexpr double kStep = 0.1;        // a tenth of the value
constexpr double kAtBound = 0.001;   // share of the bounds' width
constexpr double kWellKnown = 0.25;  // Two standard errors, as a share of the value.
constexpr double kNotKnownAtAll = 1.0;

/// Returns how much the objective rises when the constant is moved to `value` and the others are
/// refitted.
double rise(const Fit& fit, std::size_t constant, double value, std::span<const double> values,
            double least, int evaluations) {
  std::vector<double> moved(values.begin(), values.end());
  moved[constant] = value;
  moved = fit.minimise(moved, every_row, evaluations, constant);
  return std::max(0.0, fit.objective(moved, every_row) - least);
}

}  // namespace

Certainty certainty_of(const Fit& fit, std::size_t constant, std::span<const double> values,
                       int evaluations) {
  Certainty result{.tables = fit.tables_that_depend_on(constant, values)};
  if (result.tables.empty()) return result;
  const auto& [name, of_chip, lower, upper] = fit.constants()[constant];
  const double value = values[constant];
  if (value - lower < kAtBound * (upper - lower) || upper - value < kAtBound * (upper - lower)) {
    result.identified = value - lower < upper - value ? Identified::at_least : Identified::at_most;
    return result;
  }
  const double least = fit.objective(values, every_row);
  const auto rows = static_cast<double>(fit.residuals(values).size());
  const auto free = static_cast<double>(fit.constants().size());
  // Near its minimum the objective is a sum of squares. Over one standard error it rises by its
  // mean square, s^2.
  const double mean_square = least / std::max(1.0, rows - free);
  double error = 0;
  for (const double target : {value * (1 - kStep), value * (1 + kStep)}) {
    const double moved_to = std::clamp(target, lower, upper);
    const double rises = rise(fit, constant, moved_to, values, least, evaluations);
    const double step = std::abs(moved_to / value - 1);
    error = std::max(error, rises > 0 ? step * std::sqrt(mean_square / rises) : kNotKnownAtAll);
  }
  if (2 * error >= kNotKnownAtAll) {
    result.identified = Identified::flat;
    return result;
  }
  result.uncertainty = 2 * error;
  result.identified = 2 * error <= kWellKnown ? Identified::well : Identified::weakly;
  return result;
}

}  // namespace howard::calibration
