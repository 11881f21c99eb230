// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/tracking/history.h"
#include "reports/pictures/xy_chart.h"
#include "reports/tables/table.h"

namespace howard::tracking {

/// Holds a series over its runs.
struct SeriesHistory {
  Series series;
  std::vector<HistoryPoint> points;  ///< Oldest first.
  std::vector<std::size_t> changes;  ///< The first point of each new level.
};

/// Reads a series and finds its changes: every change of an exact one, the change points of a
/// sampled one.
SeriesHistory series_history(const History& history, const StoredSeries& series,
                             const std::string& branch, std::size_t most);

/// Returns the values as one line of at most `width` marks, "▁▂▂▅", or of digits from 0 to 9 in
/// ASCII. A longer series is shown by the medians of its parts.
std::string sparkline(const std::vector<HistoryPoint>& points, std::size_t width, bool ascii);

/// Returns a row for each series: its last value, how far that is from its first, its changes and
/// its sparkline.
reports::Table overview_table(const std::vector<SeriesHistory>& all, bool ascii);

/// Returns a row for each run of a series, newest last, with the changes marked.
reports::Table series_table(const SeriesHistory& one);

/// Returns the series as a chart: the values by run, and the median of each level. `next` is the
/// value of a run that comes after them; it has an open mark. There must be a point.
reports::XyChart history_chart(const SeriesHistory& one, std::optional<double> next = {});

}  // namespace howard::tracking
