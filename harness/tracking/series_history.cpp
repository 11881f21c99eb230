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
#include "harness/tracking/comparison_tables.h"
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
  return point.commit.substr(0, 12) + (point.commit.ends_with("-dirty") ? "-dirty" : "");
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
      // A level is what it is until the next change.
      const std::vector<double> all = values_of(one.points);
      const std::size_t begin = changed == one.changes.begin() ? 0 : *(changed - 1);
      const std::size_t end = changed + 1 == one.changes.end() ? all.size() : *(changed + 1);
      const double before = *harness::median(std::span(all).subspan(begin, i - begin));
      const double after = *harness::median(std::span(all).subspan(i, end - i));
      changes.push_back("new level " + percent(before, after) + " %");
    }
  }
  add_words(table, TableColumn{.title = "run (UTC)", .room = Room::key}, dates);
  add_words(table, TableColumn{.title = "commit", .room = Room::key}, commits);
  add_words(table, "branch", branches);
  add_figures(table, "value", values);
  add_words(table, TableColumn{.title = "change", .room = Room::key}, changes);
  return table;
}

reports::PlotFiles draw_history(const SeriesHistory& one, const reports::Canvas& canvas) {
  const std::vector<double> values = values_of(one.points);
  if (values.empty()) return {};
  const reports::Scale scale = reports::fit_scale(one.series.unit, values);
  const std::string label = reports::with_unit(one.series.metric, scale.unit);
  reports::Picture picture{
      .name = file_name_of("history_" + row_name(one.series)),
      .title = row_name(one.series),
      .size = canvas.size_or({}),
      .data = {},
      .settings = fmt::format("set xlabel 'run'\nset ylabel {}\nunset key\nset xrange [0:{}]",
                              reports::gnuplot_string(label), values.size() + 1),
      .curves = {}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    picture.data +=
        fmt::format("{} {} {}\n", i + 1, reports::format_exact(reports::in_unit(values[i], scale)),
                    reports::gnuplot_word(commit_of(one.points[i])));
  }
  for (const std::size_t change : one.changes) {
    picture.settings +=
        fmt::format("\nset arrow from {0},graph 0 to {0},graph 1 nohead dashtype 2 {1}",
                    static_cast<double>(change) + 0.5, reports::gnuplot_color(1));
  }
  picture.curves.push_back(
      fmt::format("data using 1:2 with linespoints pt 7 ps 0.6 {}", reports::gnuplot_color(0)));
  return write_picture(picture, canvas);
}

}  // namespace howard::tracking
