// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/presentation.h"
#include "harness/result.h"

namespace howard::reports {

struct PlotFiles {
  std::vector<std::filesystem::path> written;
  /// Why there are no pictures, and what to try; empty when there are.
  std::string not_rendered;
};

/// Draws the experiment's plots into `folder`: EXPERIMENT.dat (the numbers), EXPERIMENT.gp (the
/// script; `gnuplot EXPERIMENT.gp` in that folder draws it again), EXPERIMENT.png and .svg; the
/// second plot is EXPERIMENT_2, and so on. One line for each combination of the plot's series axes
/// and the backend; axes that would otherwise put two points of a line above each other separate
/// lines too. Published figures are open symbols in the colour of their line, intervals are bars.
/// A plot without a point that has both metrics, positive, is left out.
///
/// Without a working gnuplot the data and the script are written all the same, and older pictures
/// of that name are removed, as they would show other data. Error when a file can not be written.
PlotFiles write_plots(const harness::ExperimentResult& result,
                      const harness::Presentation& presentation,
                      const std::filesystem::path& folder);

}  // namespace howard::reports
