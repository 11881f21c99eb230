// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engines/chip/calibration/measurements.h"
#include "engines/chip/calibration/model.h"
#include "engines/chip/profiles/profile.h"

namespace howard::calibration {

/// A constant that a fit may move: its source says "calibrated on", and it has bounds.
struct FreeConstant {
  std::string name;
  /// True if it belongs to the chip profile; otherwise it belongs to the software profile.
  bool of_chip = false;
  double least = 0, most = 0;
};

/// Returns the free constants of two profiles, in the order of their names.
std::vector<FreeConstant> free_constants(const chip::ProfileConstants& constants);

/// The error of the prediction for one measured quantity of one row.
struct Residual {
  std::size_t table = 0;  ///< The index into the tables given to Fit.
  std::size_t row = 0;
  std::size_t quantity = 0;  ///< The index into the table's measured quantities.
  double error = 0;          ///< predicted / measured - 1.
  double loss = 0;           ///< The row's contribution to the objective.
};

/// Says which rows a fit may see; all others are only predicted.
using RowFilter = std::function<bool(std::size_t table, std::size_t row)>;
/// Lets every row through.
inline bool every_row(std::size_t /*table*/, std::size_t /*row*/) { return true; }

/// Fits constants to tables of measurements.
///
/// The objective is the sum over rows of 2 (sqrt(1 + r^2) - 1), where r is ln(predicted / measured)
/// divided by the row's tolerance. It is quadratic for small errors and linear for large ones, so
/// that a row which the model cannot explain does not distort the others. A row counts the same in
/// every table. Values are in the constants' units, in the order of `constants()`.
class Fit {
 public:
  /// `start` holds the values of all constants that are not free. Throws Error when a table cannot
  /// be read.
  Fit(const chip::ProfileConstants& start, std::vector<MeasurementTable> tables);

  const std::vector<FreeConstant>& constants() const { return constants_; }
  const std::vector<MeasurementTable>& tables() const { return tables_; }

  std::vector<double> start_values() const;
  /// Returns the middle of the bounds on a logarithmic scale: what is known without any
  /// measurement.
  std::vector<double> middle_values() const;

  /// Returns the constants with other values. `sources` says what each was calibrated on, or is
  /// empty.
  chip::ProfileConstants with(std::span<const double> values,
                              std::span<const std::string> sources = {}) const;

  /// Rounds to four digits, which is more than any fit knows, and keeps the values within the
  /// bounds.
  std::vector<double> rounded(std::vector<double> values) const;

  std::vector<Residual> residuals(std::span<const double> values) const;
  /// Returns the objective over the rows that `sees` lets through.
  double objective(std::span<const double> values, const RowFilter& sees) const;

  /// Returns the tables with a row that changes when the constant goes from one bound to the other
  /// while the others are at `values`.
  std::vector<std::size_t> tables_that_depend_on(std::size_t constant,
                                                 std::span<const double> values) const;

  /// Returns the values with the least objective that was found in about `evaluations` evaluations;
  /// they are never worse than `from`. The same arguments give the same result. Constants that do
  /// not matter to the rows seen keep their values, and so does `held`.
  std::vector<double> minimise(std::span<const double> from, const RowFilter& sees, int evaluations,
                               std::optional<std::size_t> held = std::nullopt) const;

  /// Returns the constants that matter to the rows seen, in ascending order.
  std::vector<std::size_t> that_matter(std::span<const double> values, const RowFilter& sees) const;

 private:
  /// Returns the profiles with the values of `constants` on the chip of a table.
  chip::Profiles profiles_of(const std::string& chip, chip::ProfileConstants constants) const;

  chip::ProfileConstants start_;
  std::vector<MeasurementTable> tables_;
  std::vector<FreeConstant> constants_;
  std::vector<std::unique_ptr<Model>> models_;
  /// The chips of tables of other boards of the family, with their own constants.
  std::map<std::string, chip::Constants> other_chips_;
};

}  // namespace howard::calibration
