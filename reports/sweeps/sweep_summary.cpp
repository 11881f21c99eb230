// SPDX-License-Identifier: Apache-2.0
#include "reports/sweeps/sweep_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "reports/sweeps/pareto.h"
#include "reports/sweeps/sweep.h"
#include "reports/tables/columns.h"
#include "reports/tables/row_sample.h"

namespace howard::reports {
namespace {

using harness::PointResult;
using Names = std::vector<std::string>;

std::string parameter(const PointResult& point, const std::string& axis) {
  return std::string(harness::find_parameter(point.parameters, axis).value_or(""));
}

double time_of(const PointResult& point) { return point.find_metric("time")->value; }

std::string bound_of(const PointResult& point) {
  return point.find(harness::kBoundBy).value_or("");
}

/// Builds rows about groups of points, which begin with a column for each axis by which the groups
/// differ.
class GroupRows {
 public:
  explicit GroupRows(const SweepGroups& groups) : groups_(groups) {}

  void add(const SweepGroup& group) { rows_.push_back(&group); }
  bool empty() const { return rows_.empty(); }

  void add_columns(Table& table) const {
    for (std::size_t i = 0; i < groups_.axes.size(); ++i) {
      Names values;
      for (const SweepGroup* const group : rows_) values.push_back(group->values[i]);
      add_words(table, groups_.axes[i], values);
    }
  }

 private:
  const SweepGroups& groups_;
  std::vector<const SweepGroup*> rows_;
};

/// Keeps the first rows of a long table.
void cut(Table& table, bool all_rows) {
  if (all_rows || table.rows.size() <= kMostRows) return;
  table.notes.push_back(
      fmt::format("the first {} of {} rows; --all-rows shows all", kMostRows, table.rows.size()));
  table.rows.resize(kMostRows);
}

/// Adds a column for each axis with the values that points have on it.
void add_parameters(Table& table, const Names& axes, const SweepPoints& points) {
  for (const std::string& axis : axes) {
    Names values;
    for (const PointResult* const point : points) values.push_back(parameter(*point, axis));
    add_words(table, axis, values);
  }
}

Table extremes_table(const std::string& experiment, const SweepGroups& groups, const Names& swept) {
  GroupRows rows(groups);
  SweepPoints points;
  Names which;
  Names bounds;
  std::vector<std::optional<double>> times;
  std::vector<std::optional<double>> shares;
  std::size_t count = 0;
  for (const SweepGroup& group : groups.groups) {
    const PointResult& best = best_of(group.points, "time");
    const PointResult& worst = worst_of(group.points, "time");
    for (const auto& [name, point] : {std::pair("best", &best), std::pair("worst", &worst)}) {
      rows.add(group);
      points.push_back(point);
      which.emplace_back(name);
      times.emplace_back(time_of(*point));
      shares.emplace_back(time_of(*point) / time_of(best));
      bounds.emplace_back(bound_of(*point));
    }
    count += group.points.size();
  }
  Table table{.caption = fmt::format("{}: the shortest and the longest time of {} points",
                                     experiment, count)};
  rows.add_columns(table);
  add_words(table, "point", which);
  add_quantities(table, "time", "s", times);
  add_parameters(table, swept, points);
  Names factors;
  for (const auto& share : shares) factors.push_back(fmt::format("{:.2f}x", *share));
  add_words(table, "of best", factors);
  table.columns.back().number = true;
  add_words(table, "bound by", bounds);
  return table;
}

/// Says how the time follows a constant.
struct Elasticity {
  double sum = 0;  ///< The sum over the series, each from its first to its last value.
  std::size_t series = 0;
  double least = 0, most = 0;  ///< Changes between neighbouring values of at least one series.

  double mean() const { return sum / static_cast<double>(series); }
};

/// Returns by how many percent the time grows from one point to the other while the constant grows
/// by 1 %.
double elasticity_between(const SeriesPoint& a, const SeriesPoint& b) {
  return std::log(time_of(*b.point) / time_of(*a.point)) / std::log(b.value / a.value);
}

Elasticity elasticity_of(std::vector<SweepSeries> series) {
  Elasticity result;
  for (SweepSeries& points : series) {
    // A logarithm has no zero.
    std::erase_if(points, [](const SeriesPoint& point) { return point.value <= 0; });
    if (points.size() < 2) continue;
    result.sum += elasticity_between(points.front(), points.back());
    if (result.series++ == 0) {
      result.least = result.most = elasticity_between(points[0], points[1]);
    }
    for (std::size_t i = 1; i < points.size(); ++i) {
      const double one = elasticity_between(points[i - 1], points[i]);
      result.least = std::min(result.least, one);
      result.most = std::max(result.most, one);
    }
  }
  return result;
}

/// Returns the points with the least and the greatest value.
std::pair<SeriesPoint, SeriesPoint> ends_of(const std::vector<SweepSeries>& series) {
  std::pair ends(series.front().front(), series.front().back());
  for (const SweepSeries& points : series) {
    if (points.front().value < ends.first.value) ends.first = points.front();
    if (points.back().value > ends.second.value) ends.second = points.back();
  }
  return ends;
}

std::string signed_text(double value) {
  const std::string text = fmt::format("{:+.3f}", value);
  return text == "+0.000" || text == "-0.000" ? "0" : text;
}

Table elasticity_table(const std::string& experiment, const SweepGroups& groups,
                       const Names& swept) {
  GroupRows rows(groups);
  Names constants, from, to, means, least, most;
  for (const SweepGroup& group : groups.groups) {
    for (const std::string& constant : swept) {
      const std::vector<SweepSeries> series = series_along(group, swept, constant);
      const Elasticity found = elasticity_of(series);
      if (found.series == 0) continue;
      const auto [first, last] = ends_of(series);
      rows.add(group);
      constants.push_back(constant);
      from.push_back(parameter(*first.point, constant));
      to.push_back(parameter(*last.point, constant));
      means.push_back(signed_text(found.mean()));
      least.push_back(signed_text(found.least));
      most.push_back(signed_text(found.most));
    }
  }
  Table table{.caption = experiment + ": the elasticity of the time to each constant"};
  if (rows.empty()) return table;
  rows.add_columns(table);
  add_words(table, "constant", constants);
  for (const auto& [title, texts] :
       {std::pair("elasticity", means), {"least", least}, {"most", most}}) {
    add_words(table, title, texts);
    table.columns.back().number = true;
  }
  add_words(table, "from", from);
  add_words(table, "to", to);
  table.notes = {
      "elasticity: by how many percent the time changes when the constant grows by 1 %. It is "
      "ln(last time / first time) / ln(last value / first value) with everything else equal, the "
      "mean over the values of the other constants; least and most are the same between "
      "neighbouring values. Values of 0 are left out."};
  return table;
}

/// Says where one bound follows another along a constant.
struct Change {
  SeriesPoint earliest, latest;  ///< Among the first points with the new bound, by the constant.
  std::size_t times = 0;
};

/// Holds the changes by the bound before and the bound after.
using Changes = std::map<std::pair<std::string, std::string>, Change>;

Changes changes_along(const std::vector<SweepSeries>& series) {
  Changes changes;
  for (const SweepSeries& points : series) {
    for (std::size_t i = 1; i < points.size(); ++i) {
      const std::string before = bound_of(*points[i - 1].point);
      const std::string after = bound_of(*points[i].point);
      if (before == after) continue;
      Change& change = changes[{before, after}];
      const bool first = change.times++ == 0;
      if (first || points[i].value < change.earliest.value) change.earliest = points[i];
      if (first || points[i].value > change.latest.value) change.latest = points[i];
    }
  }
  return changes;
}

Table bound_table(const std::string& experiment, const SweepGroups& groups, const Names& swept) {
  GroupRows rows(groups);
  Names constants, bounds, from, to, shares;
  for (const SweepGroup& group : groups.groups) {
    for (const std::string& constant : swept) {
      const std::vector<SweepSeries> series = series_along(group, swept, constant);
      for (const auto& [pair, change] : changes_along(series)) {
        rows.add(group);
        constants.push_back(constant);
        bounds.push_back(fmt::format("{} -> {}", pair.first, pair.second));
        from.push_back(parameter(*change.earliest.point, constant));
        to.push_back(parameter(*change.latest.point, constant));
        shares.push_back(fmt::format("{} of {}", change.times, series.size()));
      }
    }
  }
  Table table{.caption = experiment + ": where what bounds the time changes"};
  if (rows.empty()) return table;
  rows.add_columns(table);
  add_words(table, "constant", constants);
  add_words(table, "bound by", bounds);
  add_words(table, "from", from);
  if (swept.size() > 1) {
    add_words(table, "to", to);
    add_words(table, "series", shares);
    table.notes = {
        "from, to: the least and the greatest value of the constant at which the second bound "
        "follows the first; series: in how many of the combinations of the other constants"};
  } else {
    table.notes = {"from: the value of the constant at which the second bound follows the first"};
  }
  return table;
}

Table pareto_table(const std::string& experiment, const SweepGroups& groups,
                   const harness::Presentation& presentation) {
  Table table;
  const std::optional<ParetoFronts> found = pareto_fronts(groups, presentation);
  if (!found) return table;
  GroupRows rows(groups);
  SweepPoints points;
  std::vector<std::optional<double>> times, others;
  for (std::size_t i = 0; i < found->fronts.size(); ++i) {
    for (const PointResult* const point : found->fronts[i]) {
      rows.add(groups.groups[i]);
      points.push_back(point);
      times.emplace_back(time_of(*point));
      others.emplace_back(point->find_metric(found->metric)->value);
    }
  }
  const harness::Metric& other = *points.front()->find_metric(found->metric);
  table.caption =
      fmt::format("{}: the Pareto front of time (less is better) and {} ({} is better)", experiment,
                  found->title, other.better == harness::Better::lower ? "less" : "more");
  rows.add_columns(table);
  add_quantities(table, "time", "s", times);
  add_quantities(table, found->title, other.unit, others);
  add_parameters(table, presentation.swept, points);
  table.notes = {
      "no other point of the same row head is better in one of the two and as good in "
      "the other"};
  return table;
}

}  // namespace

std::vector<Table> sweep_tables(const harness::ExperimentResult& result,
                                const harness::Presentation& presentation, bool all_rows) {
  const Names& swept = presentation.swept;
  if (swept.empty()) return {};
  const SweepGroups groups = group_sweep(result, swept, "time");
  if (groups.groups.empty()) return {};
  std::vector<Table> tables{extremes_table(result.experiment, groups, swept),
                            elasticity_table(result.experiment, groups, swept),
                            bound_table(result.experiment, groups, swept),
                            pareto_table(result.experiment, groups, presentation)};
  if (tables.back().rows.empty()) {
    tables.front().notes.emplace_back(
        "no Pareto front: no other metric of the table gets better where the time gets longer");
  }
  std::erase_if(tables, [](const Table& table) { return table.rows.empty(); });
  for (Table& table : tables) cut(table, all_rows);
  return tables;
}

}  // namespace howard::reports
