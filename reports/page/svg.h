// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/presentation.h"
#include "harness/result.h"
#include "reports/pictures/bar_picture.h"

namespace howard::reports {

/// Charts as SVG within a page. They show the same data as the pictures that gnuplot draws; each
/// mark says its numbers when the pointer rests on it. Text and axes take the colours of the page.
/// A chart that has nothing to show is "".

/// Lines on two logarithmic axes, with published figures as open diamonds.
std::string svg_lines(const harness::ExperimentResult& result, const harness::Plot& plot);

/// Bars that lie below each other, from zero, with their parts in colours.
std::string svg_bars(const BarPicture& bars);

/// A metric by two axes as coloured cells, on a logarithmic scale.
std::string svg_map(const harness::ExperimentResult& result, harness::Backend backend,
                    const harness::HeatMap& map);

/// "#0072b2" of "lc rgb '#0072b2'".
std::string hex_color(std::string_view gnuplot_color);

}  // namespace howard::reports
