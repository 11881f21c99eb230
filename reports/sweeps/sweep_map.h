// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reports/pictures/picture.h"
#include "reports/sweeps/sweep.h"

namespace howard::reports {

/// Draws a metric over the values of two constants, the first of `axes` from left to right, the
/// second upwards: a panel for each group, with a colour for how many times worse than the best of
/// its panel a point is.
PlotFiles write_sweep_map(const SweepGroups& groups, const std::vector<std::string>& axes,
                          const SweepMetric& metric, const std::string& name, const Canvas& canvas);

}  // namespace howard::reports
