// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engines/chip/calibration/fit.h"

namespace howard::calibration::testing {

/// Returns the built-in tables of these names.
std::vector<MeasurementTable> tables_of(const std::vector<std::string>& names);

/// Returns the tables with the times that the model itself predicts with some constants changed, as
/// if measured on a chip that is exactly like the model.
std::vector<MeasurementTable> measured_with(
    const std::vector<std::pair<std::string, double>>& constants,
    std::vector<MeasurementTable> tables);

/// Returns the place of a free constant.
std::size_t place_of(const Fit& fit, std::string_view constant);

inline bool every_row(std::size_t /*table*/, std::size_t /*row*/) { return true; }

}  // namespace howard::calibration::testing
