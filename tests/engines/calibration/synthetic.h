// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engines/calibration/fit.h"

namespace howard::calibration::testing {

/// The built-in tables of these names.
std::vector<MeasurementTable> tables_of(const std::vector<std::string>& names);

/// The tables with the times that the model itself predicts with some constants changed: what a
/// chip would measure that is as the model says.
std::vector<MeasurementTable> measured_with(
    const std::vector<std::pair<std::string, double>>& constants,
    std::vector<MeasurementTable> tables);

/// The place of a free constant.
std::size_t place_of(const Fit& fit, std::string_view constant);

inline bool every_row(std::size_t /*table*/, std::size_t /*row*/) { return true; }

}  // namespace howard::calibration::testing
