// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engines/device/program.h"

namespace howard::calibration {

/// A measured quantity of a table: one of its columns.
struct Measured {
  std::string column;
  double seconds_per_unit = 1;  ///< The file's "unit", "ns", "us" or "ms", as a number.
  /// Relative error that the model and the measurement may well have together: the weight of a row
  /// is one over its square, and errors well beyond it count linearly.
  double tolerance = 0.1;
};

/// Published measurements of real hardware, transcribed: a table of what was run and how long it
/// took. (Schema howard.measurements/1; the files are measurements/*.json.)
struct MeasurementTable {
  std::string name;
  std::string kind;  ///< How a row is run on the emulator: a name that `make_model` knows.
  std::string title;
  std::string source;    ///< Where it was published.
  std::string hardware;  ///< Board and conditions.
  CoreGrid grid;         ///< Its compute grid.
  std::string fold;      ///< Column whose values are left out of a fit together; "" is each row.
  std::vector<std::string> programs;  ///< What a step runs, where all rows run the same.
  std::vector<Measured> measured;
  std::vector<std::string> columns;
  std::vector<std::vector<std::variant<double, std::string>>> rows;

  // A cell. Each Error when there is no such column or the cell is of the other type.
  double number(std::size_t row, std::string_view column) const;
  int count(std::size_t row, std::string_view column) const;  ///< Error unless whole.
  const std::string& text(std::size_t row, std::string_view column) const;

  /// The measured time of a row in seconds.
  double seconds(std::size_t row, const Measured& quantity) const;
};

/// Reads a table; `origin` names it in errors. Error when it is not JSON, of another schema, lacks
/// a key, or has a row that does not fit its columns or a time that is not positive.
MeasurementTable parse_measurements(std::string_view json, std::string_view origin);

/// The tables that are compiled into the program, in the order in which they are reported.
std::vector<MeasurementTable> built_in_measurements();

}  // namespace howard::calibration
