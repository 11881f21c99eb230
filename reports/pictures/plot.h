// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/presentation.h"
#include "harness/result.h"
#include "reports/pictures/picture.h"

namespace howard::reports {

/// Draws the experiment's plots on `canvas`, then for each backend its bar charts and heat maps, as
/// pictures called EXPERIMENT, EXPERIMENT_2 and so on (picture.h says which files these are). The
/// number of a picture that has nothing to show is left out. A plot has one line for each
/// combination of its series axes and the backend; axes that would otherwise put two points of a
/// line above each other separate lines too. Published figures are open symbols in the colour of
/// their line, and intervals are bars. A plot without a point that has both metrics, positive, is
/// left out. So are all plots of more than 2000 points, and the result says so. Emulated points of
/// a sweep of constants are drawn as sweep_pictures.h says, whatever their number.
PlotFiles write_plots(const harness::ExperimentResult& result,
                      const harness::Presentation& presentation, const Canvas& canvas);

}  // namespace howard::reports
