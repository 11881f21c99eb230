// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "engines/calibration/certainty.h"
#include "engines/calibration/fit.h"

namespace howard::calibration {

// The evaluations of a calibration by those of its other fits: each one without some rows, and each
// of the two that say how well a constant is known.
inline constexpr int kShareWithoutRows = 2;
inline constexpr int kShareOfCertainty = 20;

/// The free constants of two profiles fitted to all rows of all tables, and how far that fit is to
/// be trusted. Deterministic.
class Calibration {
 public:
  /// Fits at once, in about `evaluations` evaluations of the model, starting from the constants'
  /// own values. Error when a table can not be read.
  Calibration(const wormhole::ProfileConstants& start, std::vector<MeasurementTable> tables,
              int evaluations);

  const Fit& fit() const { return fit_; }
  const std::vector<double>& start() const { return start_; }
  /// Rounded; the start itself when the fit found nothing better.
  const std::vector<double>& fitted() const { return fitted_; }

  // Errors on rows that a fit has not seen. These fits begin in the middle of the bounds, so that
  // nothing of the unseen rows is left in them; a constant that only unseen rows tell of stays
  // there.

  /// The residuals of a table's rows after a fit to all other tables.
  std::vector<Residual> without_table(std::size_t table) const;

  /// The residuals of a table's rows, a third of them left out of a fit in turn; rows that the
  /// table's fold column gives the same value are left out together.
  std::vector<Residual> in_thirds(std::size_t table) const;

  /// How well fitted()[constant] is known.
  Certainty certainty(std::size_t constant) const;

  /// The fitted profiles, complete: names and sources say what they are.
  wormhole::ProfileConstants profiles() const;

 private:
  std::vector<Residual> unseen(std::size_t table, const RowFilter& sees) const;

  Fit fit_;
  int evaluations_;
  std::vector<double> start_;
  std::vector<double> fitted_;
};

}  // namespace howard::calibration
