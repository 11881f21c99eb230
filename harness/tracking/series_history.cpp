// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/series_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <numeric>

#include "base/file.h"
#include "harness/change_points.h"
#include "harness/statistics.h"
#include "harness/tracking/comparison/comparison_tables.h"
#include "reports/tables/columns.h"
#include "reports/tables/format.h"

namespace howard::tracking {
namespace {

using harness::Room;
using reports::Table;
using reports::TableColumn;

std::vector<double> values_of(const std::vector<HistoryPoint>& points) {
  std::vector<double> values;
  for (const HistoryPoint& point : points) values.push_back(point.value);
  return values;
}

std::string commit_of(const HistoryPoint& point) {
  if (point.commit.empty()) return "-";
  return short_commit(point.commit);
}

std::string date_of(std::int64_t seconds) {
  const auto moment = static_cast<std::time_t>(seconds);
  std::tm parts{};
  ::gmtime_r(&moment, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M", &parts);
  return text.data();
}

std::string percent(double before, double after) {
  return before == 0 ? "" : fmt::format("{:+.3g}", 100 * (after / before - 1));
}

/// Holds the points from `begin` to before `end`, between which nothing changed, and their median.
struct Level {
  std::size_t begin = 0, end = 0;
  double value = 0;
};

std::vector<Level> levels_of(const SeriesHistory& one) {
  const std::vector<double> all = values_of(one.points);
  std::vector<std::size_t> bounds{0};
  bounds.insert(bounds.end(), one.changes.begin(), one.changes.end());
  bounds.push_back(all.size());
  std::vector<Level> levels;
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
    const std::size_t begin = bounds[i];
    const std::size_t end = bounds[i + 1];
    levels.push_back({begin, end, *harness::median(std::span(all).subspan(begin, end - begin))});
  }
  return levels;
}

void add_figures(Table& table, std::string title, const std::vector<std::string>& texts) {
  add_words(table, TableColumn{.title = std::move(title), .number = true}, texts);
}

}  // namespace

SeriesHistory series_history(const History& history, const StoredSeries& series,
                             const std::string& branch, std::size_t most) {
  SeriesHistory one{.series = series.series, .points = history.points(series.number, branch, most)};
  const std::vector<double> values = values_of(one.points);
  one.changes = series.series.kind == Kind::exact ? harness::exact_changes(values)
                                                  : harness::change_points(values);
  return one;
}

std::string sparkline(const std::vector<HistoryPoint>& points, std::size_t width, bool ascii) {
  constexpr std::array<std::string_view, 8> kMarks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::vector<double> values = values_of(points);
  if (values.empty()) return "";
  const std::size_t count = std::min(width, values.size());
  std::vector<double> shown;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t begin = i * values.size() / count;
    const std::size_t end = (i + 1) * values.size() / count;
    shown.push_back(*harness::median(std::span(values).subspan(begin, end - begin)));
  }
  const auto [least, most] = std::ranges::minmax(shown);
  std::string line;
  for (const double value : shown) {
    const double place = most > least ? (value - least) / (most - least) : 0;
    if (ascii) {
      line += static_cast<char>('0' + std::lround(place * 9));
    } else {
      line += kMarks[static_cast<std::size_t>(std::lround(place * 7))];
    }
  }
  return line;
}

Table overview_table(const std::vector<SeriesHistory>& all, bool ascii) {
  constexpr std::size_t kWidth = 24;
  std::vector<std::string> names, last, change, runs, changes, lines;
  for (const SeriesHistory& one : all) {
    if (one.points.empty()) continue;
    names.push_back(row_name(one.series));
    last.push_back(reports::format_quantity(one.points.back().value, one.series.unit));
    change.push_back(percent(one.points.front().value, one.points.back().value));
    runs.push_back(std::to_string(one.points.size()));
    changes.push_back(std::to_string(one.changes.size()));
    lines.push_back(sparkline(one.points, kWidth, ascii));
  }
  Table table{.caption = "history of " + reports::counted(names.size(), "metric")};
  add_words(table, "history", lines);
  add_figures(table, "last", last);
  add_figures(table, "since first (%)", change);
  add_figures(table, "runs", runs);
  add_figures(table, "changes", changes);
  add_words(table, TableColumn{.title = "metric", .room = Room::key}, names);
  return table;
}

Table series_table(const SeriesHistory& one) {
  Table table{.caption = fmt::format("{}, {}", row_name(one.series), name_of(one.series.kind))};
  std::vector<std::string> dates, commits, branches, values, changes;
  const std::vector<Level> levels = levels_of(one);
  for (std::size_t i = 0; i < one.points.size(); ++i) {
    const HistoryPoint& point = one.points[i];
    dates.push_back(date_of(point.time));
    commits.push_back(commit_of(point));
    branches.push_back(point.branch);
    values.push_back(one.series.kind == Kind::exact
                         ? std::to_string(point.picoseconds) + " ps"
                         : reports::format_quantity(point.value, one.series.unit));
    const auto changed = std::ranges::find(one.changes, i);
    if (changed == one.changes.end()) {
      changes.emplace_back();
    } else if (one.series.kind == Kind::exact) {
      changes.push_back("changed " + percent(one.points[i - 1].value, point.value) + " %");
    } else {
      const auto place = static_cast<std::size_t>(changed - one.changes.begin());
      changes.push_back("new level " + percent(levels[place].value, levels[place + 1].value) +
                        " %");
    }
  }
  add_words(table, TableColumn{.title = "run (UTC)", .room = Room::key}, dates);
  add_words(table, TableColumn{.title = "commit", .room = Room::key}, commits);
  add_words(table, "branch", branches);
  add_figures(table, "value", values);
  add_words(table, TableColumn{.title = "change", .room = Room::key}, changes);
  return table;
}

reports::XyChart history_chart(const SeriesHistory& one, std::optional<double> next) {
  constexpr double kRoom = 800;
  constexpr double kHeight = 300;
  std::vector<double> values = values_of(one.points);
  if (next) values.push_back(*next);
  const reports::Scale scale = reports::fit_scale(one.series.unit, values);
  const auto shown = [&](double value) { return reports::in_unit(value, scale); };
  std::vector<double> heights;
  for (const double value : values) heights.push_back(shown(value));
  const auto [low, high] = std::ranges::minmax(heights);
  const double margin = (high - low) / 20;  // no mark lies on the frame
  reports::XyChart chart{
      .name = file_name_of("history_" + row_name(one.series)),
      .title = row_name(one.series),
      .x = reports::linear_axis(0, static_cast<double>(values.size()) + 1, kRoom),
      .y = reports::linear_axis_upwards(low - margin, high + margin, kHeight),
      .x_label = "run",
      .y_label = reports::with_unit(one.series.metric, scale.unit),
      .series = {},
      .open_title = "these results"};
  for (const Level& level : levels_of(one)) {
    const double height = shown(level.value);
    chart.series.push_back({.title = "",
                            .color = 1,
                            .dots = false,
                            .marks = {{static_cast<double>(level.begin) + 0.5, height},
                                      {static_cast<double>(level.end) + 0.5, height}}});
  }
  if (!chart.series.empty()) chart.series.front().title = "level";
  reports::ChartSeries runs{.title = "runs", .line = false, .marks = {}};
  for (std::size_t i = 0; i < one.points.size(); ++i) {
    const HistoryPoint& point = one.points[i];
    runs.marks.push_back(
        {.x = static_cast<double>(i) + 1,
         .y = heights[i],
         .hint = fmt::format("{}, {}: {}", commit_of(point), date_of(point.time),
                             reports::format_quantity(point.value, one.series.unit))});
  }
  if (next) {
    runs.open.push_back(
        {.x = static_cast<double>(values.size()),
         .y = heights.back(),
         .hint = "these results: " + reports::format_quantity(*next, one.series.unit)});
  }
  chart.series.push_back(std::move(runs));
  return chart;
}

}  // namespace howard::tracking
