// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "harness/presentation.h"
#include "harness/result.h"
#include "reports/pictures/picture.h"

namespace howard::reports {

/// Draws the emulated points of a sweep of constants: a picture, with the name that `next_name`
/// gives, for each metric that the presentation's own pictures show. With one swept constant, its
/// values are the horizontal axis, and each combination of the other axes is a line, with a circle
/// where the bound changes. With more of them, the first two are the axes of a heat map, with a
/// panel for each combination of the others. Its colours say how far a point is from the panel's
/// best, which is marked. If there are more than a legend or a picture has room for, some are
/// drawn, and the title says so.
PlotFiles write_sweep_pictures(const harness::ExperimentResult& result,
                               const harness::Presentation& presentation,
                               const std::function<std::string()>& next_name, const Canvas& canvas);

}  // namespace howard::reports
