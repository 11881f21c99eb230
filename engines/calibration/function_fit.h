// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "engines/calibration/measurements.h"
#include "engines/wormhole/profiles/profile.h"

namespace howard::calibration {

/// The time of a tile of one or several elementwise functions, fitted to the rows of these
/// functions alone.
struct FunctionTime {
  std::string constant;     ///< "tiles.silu".
  std::int64_t cycles = 0;  ///< Whole cycles of the chip's clock.
  std::size_t rows = 0;     ///< That it was fitted to.
  double worst_error = 0;   ///< Of those rows, relative, with that time.
};

/// Fits the constant of each function of which `table`, of kind op_kernel, has rows: the time with
/// the least sum of squared relative errors, everything else being that of `profiles`. In the order
/// of the catalogue. A function that is bound by something else in all its rows gets the largest
/// time that does not show. Error when a row can not be read.
std::vector<FunctionTime> fit_functions(const MeasurementTable& table,
                                        const wormhole::Profiles& profiles);

/// Relative errors of rows that the time of their function was not fitted to: of each function with
/// several rows, every row is predicted with the time that the others give. Error when a row can
/// not be read.
std::vector<double> left_out_errors(const MeasurementTable& table,
                                    const wormhole::Profiles& profiles);

/// The fitted times as a profile that others extend: howard.profile/1, kind software.
std::string function_profile(const std::vector<FunctionTime>& times);

}  // namespace howard::calibration
