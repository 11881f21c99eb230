// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engines/chip/calibration/measurements.h"
#include "engines/chip/profiles/profile.h"

namespace howard::calibration {

/// The time that one or several elementwise functions take for a tile, fitted to the rows of these
/// functions alone.
struct FunctionTime {
  std::string constant;     ///< "tiles.silu".
  std::int64_t cycles = 0;  ///< Whole cycles of the chip's clock.
  std::size_t rows = 0;     ///< The number of rows that it was fitted to.
  double worst_error = 0;   ///< The largest relative error of those rows with that time.
};

/// Fits the constant of each function that `table`, of kind op_kernel, has rows of, in the order of
/// the catalogue. Each gets the time with the least sum of squared relative errors; everything else
/// is taken from `profiles`. A function that is bound by something else in all its rows gets the
/// largest time that does not show. Throws Error when a row cannot be read.
std::vector<FunctionTime> fit_functions(const MeasurementTable& table,
                                        const chip::Profiles& profiles);

/// Returns relative errors of rows that the time of their function was not fitted to: for each
/// function with several rows, it predicts every row with the time that the others give. Throws
/// Error when a row cannot be read.
std::vector<double> left_out_errors(const MeasurementTable& table, const chip::Profiles& profiles);

/// Returns the fitted times as a profile that others extend: howard.profile/1, kind software.
std::string function_profile(const std::vector<FunctionTime>& times,
                             std::string_view architecture = "wormhole_b0");

}  // namespace howard::calibration
