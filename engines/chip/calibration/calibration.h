// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "engines/chip/calibration/certainty.h"
#include "engines/chip/calibration/fit.h"

namespace howard::calibration {

// A calibration's number of evaluations is divided by these for its other fits: by the first for
// each fit without some rows, by the second for each of the two fits that say how well a constant
// is known.
inline constexpr int kShareWithoutRows = 2;
inline constexpr int kShareOfCertainty = 20;

/// Fits the free constants of two profiles to all rows of all tables, and says how far that fit is
/// to be trusted. It is deterministic.
class Calibration {
 public:
  /// Fits at once, in about `evaluations` evaluations of the model, starting from the constants'
  /// own values. Throws Error when a table cannot be read.
  Calibration(const chip::ProfileConstants& start, std::vector<MeasurementTable> tables,
              int evaluations);

  const Fit& fit() const { return fit_; }
  const std::vector<double>& start() const { return start_; }
  /// Returns the fitted values, rounded; if the fit found nothing better, these are the start
  /// values.
  const std::vector<double>& fitted() const { return fitted_; }

  // The next two return errors on rows that a fit has not seen. These fits begin in the middle of
  // the bounds, so that nothing of the unseen rows is left in them. A constant that only unseen
  // rows determine stays there.

  /// Returns the residuals of a table's rows after a fit to all other tables.
  std::vector<Residual> without_table(std::size_t table) const;

  /// Returns the residuals of a table's rows from three fits, each of which leaves out a third of
  /// the rows. Rows with the same value in the table's fold column are left out together.
  std::vector<Residual> in_thirds(std::size_t table) const;

  /// Returns how well fitted()[constant] is known.
  Certainty certainty(std::size_t constant) const;

  /// Returns the complete fitted profiles, with names and sources that say what they are.
  chip::ProfileConstants profiles() const;

 private:
  std::vector<Residual> unseen(std::size_t table, const RowFilter& sees) const;

  Fit fit_;
  int evaluations_;
  std::vector<double> start_;
  std::vector<double> fitted_;
};

}  // namespace howard::calibration
