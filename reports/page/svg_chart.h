// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "harness/presentation.h"
#include "harness/result.h"
#include "reports/pictures/bar_picture.h"
#include "reports/pictures/map_chart.h"
#include "reports/pictures/stack_chart.h"
#include "reports/pictures/xy_chart.h"

namespace howard::reports {

/// These functions return charts as SVG within a page. The charts show the same data as the
/// pictures that gnuplot draws; each mark says its numbers when the pointer rests on it. A chart
/// that has nothing to show is "".

/// Returns marks and lines over two axes.
std::string svg_chart(const XyChart& chart);

/// Returns lines on two logarithmic axes, or marks beside the line of equality, with published
/// figures as open diamonds. A plot of more than 2000 points is not drawn.
std::string svg_lines(const harness::ExperimentResult& result, const harness::Plot& plot);

/// Returns bars that lie below each other, from zero, with their parts in colours and a table of
/// numbers at their right.
std::string svg_bars(const BarPicture& bars);

/// Returns columns that stand beside each other, with their parts in colours.
std::string svg_stack(const StackChart& chart);

/// Returns coloured cells with their numbers, and the scale of the colours.
std::string svg_map(const MapChart& chart);

}  // namespace howard::reports
