// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "harness/presentation.h"
#include "harness/result.h"
#include "reports/pictures/bar_picture.h"
#include "reports/pictures/picture.h"

namespace howard::reports {

/// Returns the chart of one backend's points as a picture called `name`. Each point is a bar with
/// its parts in colours, the largest kinds first, and its published figure. Nothing is returned if
/// there is no point, or if there are more than 40, whose names would cover each other.
std::optional<BarPicture> bar_picture(const harness::ExperimentResult& result,
                                      harness::Backend backend, const harness::BarChart& chart,
                                      const std::string& name);

/// Draws bar_picture() on `canvas`, with published figures as open symbols. picture.h says which
/// files that makes.
PlotFiles write_bar_chart(const harness::ExperimentResult& result, harness::Backend backend,
                          const harness::BarChart& chart, const std::string& name,
                          const Canvas& canvas);

}  // namespace howard::reports
