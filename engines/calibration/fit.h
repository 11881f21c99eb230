// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engines/calibration/measurements.h"
#include "engines/calibration/model.h"
#include "engines/wormhole/profiles/profile.h"

namespace howard::calibration {

/// A constant that may move: its source says "calibrated on", and it has bounds.
struct FreeConstant {
  std::string name;
  bool of_chip = false;  ///< In the chip profile; otherwise in the software profile.
  double least = 0, most = 0;
};

/// The free constants of two profiles, in the order of their names.
std::vector<FreeConstant> free_constants(const wormhole::ProfileConstants& constants);

/// One measured quantity of one row beside its prediction.
struct Residual {
  std::size_t table = 0;  ///< Of the tables given to Fit.
  std::size_t row = 0;
  std::size_t quantity = 0;  ///< Of the table's measured ones.
  double error = 0;          ///< predicted / measured - 1.
  double loss = 0;           ///< What the row adds to the objective.
};

/// Which rows a fit may see; all others are only predicted.
using RowFilter = std::function<bool(std::size_t table, std::size_t row)>;
/// The filter that lets every row through.
inline bool every_row(std::size_t /*table*/, std::size_t /*row*/) { return true; }

/// Fitting constants to tables of measurements.
///
/// The objective is the sum over rows of 2 (sqrt(1 + r^2) - 1), r being ln(predicted / measured) in
/// units of its tolerance: quadratic for small errors, linear for large ones, so that a row which
/// the model can not explain does not bend the others. A row counts the same in every table.
/// Values are in the constants' units, in the order of `constants()`.
class Fit {
 public:
  /// `start`: constants that hold every value that is not free. Error when a table can not be read.
  Fit(const wormhole::ProfileConstants& start, std::vector<MeasurementTable> tables);

  const std::vector<FreeConstant>& constants() const { return constants_; }
  const std::vector<MeasurementTable>& tables() const { return tables_; }

  std::vector<double> start_values() const;
  /// The middle of the bounds, on a logarithmic scale: what is known without any measurement.
  std::vector<double> middle_values() const;

  /// The constants with other values. `sources`: what each was calibrated on, or empty.
  wormhole::ProfileConstants with(std::span<const double> values,
                                  std::span<const std::string> sources = {}) const;

  /// Rounded to four digits, which is more than any fit knows, within the bounds.
  std::vector<double> rounded(std::vector<double> values) const;

  std::vector<Residual> residuals(std::span<const double> values) const;
  /// Of the rows that `sees` lets through.
  double objective(std::span<const double> values, const RowFilter& sees) const;

  /// Tables with a row that changes when the constant goes from one bound to the other, the others
  /// being at `values`.
  std::vector<std::size_t> tables_that_depend_on(std::size_t constant,
                                                 std::span<const double> values) const;

  /// The values of the least objective found in about `evaluations` evaluations; never worse than
  /// `from`. The same arguments give the same result. Constants that do not matter to the rows seen
  /// stay as they are, and so does `held`.
  std::vector<double> minimise(std::span<const double> from, const RowFilter& sees, int evaluations,
                               std::optional<std::size_t> held = std::nullopt) const;

  /// The constants that matter to the rows seen, in ascending order.
  std::vector<std::size_t> that_matter(std::span<const double> values, const RowFilter& sees) const;

 private:
  wormhole::ProfileConstants start_;
  std::vector<MeasurementTable> tables_;
  std::vector<FreeConstant> constants_;
  std::vector<std::unique_ptr<Model>> models_;
};

}  // namespace howard::calibration
