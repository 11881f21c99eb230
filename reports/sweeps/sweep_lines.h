// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/pictures/xy_chart.h"
#include "reports/sweeps/sweep.h"

namespace howard::reports {

/// Returns a metric over the values of one constant, with a line for each group (at most 14 of
/// them). Open symbols are where the bound changes.
XyChart sweep_lines(const SweepGroups& groups, const std::string& constant,
                    const SweepMetric& metric);

}  // namespace howard::reports
