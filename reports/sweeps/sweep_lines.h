// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/pictures/picture.h"
#include "reports/sweeps/sweep.h"

namespace howard::reports {

/// Draws a metric over the values of one constant, with a line for each group.
PlotFiles write_sweep_lines(const SweepGroups& groups, const std::string& constant,
                            const SweepMetric& metric, const std::string& name,
                            const Canvas& canvas);

}  // namespace howard::reports
