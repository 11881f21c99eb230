// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engines/chip/profiles/profile.h"
#include "engines/program/program.h"

namespace howard::calibration {

/// A measured quantity of a table: one of its columns.
struct Measured {
  std::string column;
  double seconds_per_unit = 1;  ///< The file's "unit" ("ns", "us" or "ms") as a number.
  /// The relative error that the model and the measurement together may be expected to have. The
  /// weight of a row is one over its square, and errors well beyond it count linearly.
  double tolerance = 0.1;
};

/// A published table of measurements on real hardware, transcribed: what was run and how long it
/// took. (The schema is howard.measurements/1; the files are measurements/*.json.)
struct MeasurementTable {
  std::string name;
  std::string kind;  ///< How to run a row on the emulator: a name that `make_model` knows.
  std::string title;
  std::string source;                        ///< Where it was published.
  std::string hardware;                      ///< Board and conditions.
  std::string architecture = "wormhole_b0";  ///< The family of chips that was measured.
  /// The built-in profile of the chip that was measured; if it is "", the chip that is calibrated.
  std::string chip;
  /// The built-in profile of the software that ran; if it is "", any of the architecture.
  std::string software;
  CoreGrid grid;  ///< The compute grid of the hardware.
  /// Rows with the same value in this column are left out of a fit together; if it is "", each row
  /// is left out by itself.
  std::string fold;
  std::vector<std::string> programs;  ///< The programs of a step, if all rows run the same.
  std::vector<Measured> measured;
  std::vector<std::string> columns;
  std::vector<std::vector<std::variant<double, std::string>>> rows;

  // These read a cell. Each throws Error when there is no such column or the cell has the other
  // type.
  double number(std::size_t row, std::string_view column) const;
  /// Throws Error unless the number is whole.
  int count(std::size_t row, std::string_view column) const;
  const std::string& text(std::size_t row, std::string_view column) const;

  /// Returns the measured time of a row in seconds.
  double seconds(std::size_t row, const Measured& quantity) const;
};

/// Reads a table; `origin` is its name in errors. Throws Error when it is not JSON, has another
/// schema, lacks a key, or has a row that does not fit its columns or a time that is not positive.
MeasurementTable parse_measurements(std::string_view json, std::string_view origin);

/// Returns the measured kernels of elementwise functions on a family of chips, for one tile and for
/// 1024 tiles. Their column "calibrates" names the program that a row calibrates if the kernel is
/// the built-in profile's, and is empty otherwise.
MeasurementTable function_measurements(std::string_view architecture = "wormhole_b0");

/// Returns measured kernels whose operands are sharded or in L1: products and small ops of language
/// models' decoding steps, and sweeps. No constant is fitted to it as a whole: each constant's
/// source names its rows. The column "what" says what a row is of.
MeasurementTable shard_measurements(std::string_view architecture = "wormhole_b0");

/// Returns measured products of Blackhole with configurations that a caller gave, a table for each
/// chip. No constant is fitted to them but those of the clock under load.
std::vector<MeasurementTable> chosen_products();

/// Returns measured products of Blackhole whose partial sums go to L1 and come back in each step of
/// K. One constant rests on some of them, the default products of two dimensions; none is fitted.
/// The column "what" says who chose the configuration, and how it shares the operands.
MeasurementTable spilled_products();

/// Returns the tables that are compiled into the program, in the order in which they are reported.
/// The constants are fitted to all of them at once. One of them has the calibrating rows of
/// function_measurements(). Only those of the architecture and the version of `software` are
/// returned.
std::vector<MeasurementTable> built_in_measurements(
    const chip::Constants& software = chip::load_constants().software);

}  // namespace howard::calibration
