// SPDX-License-Identifier: Apache-2.0
#include "reports/findings/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/text.h"
#include "reports/tables/columns.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

using Key = std::pair<std::string, std::string>;  // point, metric

/// Returns how far a time moved, in either direction: 2 and 0.5 are equally far.
double distance(const MovedTime& moved) {
  const double before = static_cast<double>(moved.before.ps());
  const double after = static_cast<double>(moved.after.ps());
  // One picosecond more makes zeros comparable and changes no order that a reader could see.
  return std::abs(std::log((after + 1) / (before + 1)));
}

std::string reason_in(const TimeRecord& record, const std::string& point) {
  const auto found = std::ranges::find(record.skipped, point, &SkippedPoint::point);
  return found == record.skipped.end() ? "" : found->reason;
}

std::map<Key, SimTime> by_key(const TimeRecord& record) {
  std::map<Key, SimTime> times;
  for (const ExactTime& exact : record.exact) {
    times.emplace(Key{exact.point, exact.metric}, exact.time);
  }
  return times;
}

std::vector<UnpairedTime> unpaired(const TimeRecord& has, const TimeRecord& lacks) {
  const std::map<Key, SimTime> others = by_key(lacks);
  std::vector<UnpairedTime> times;
  for (const ExactTime& exact : has.exact) {
    if (others.contains({exact.point, exact.metric})) continue;
    times.push_back({exact.point, exact.metric, exact.time, reason_in(lacks, exact.point)});
  }
  return times;
}

std::vector<SampledPair> pair_sampled(const TimeRecord& before, const TimeRecord& after) {
  std::vector<SampledPair> pairs;
  for (const SampledMetric& old : before.sampled) {
    const auto found = std::ranges::find_if(after.sampled, [&](const SampledMetric& now) {
      return now.point == old.point && now.metric.name == old.metric.name;
    });
    if (found != after.sampled.end()) pairs.push_back({old.point, old.metric, found->metric});
  }
  return pairs;
}

std::string ratio_text(std::optional<double> ratio) {
  return ratio ? fmt::format("{:.9g}", *ratio) : "";  // a picosecond of a millisecond shows
}

/// Adds a column of text that is read as numbers, and so aligned right.
void add_numbers(Table& table, std::string title, const std::vector<std::string>& texts) {
  add_words(table, TableColumn{.title = std::move(title), .number = true}, texts);
}

Table moved_table(const std::vector<MovedTime>& moved) {
  Table table{.caption = "virtual times that moved"};
  std::vector<std::string> points, metrics, before, after, ratios;
  for (const MovedTime& one : moved) {
    points.push_back(one.point);
    metrics.push_back(one.metric);
    before.push_back(std::to_string(one.before.ps()));
    after.push_back(std::to_string(one.after.ps()));
    ratios.push_back(ratio_text(one.ratio()));
  }
  add_numbers(table, "old (ps)", before);
  add_numbers(table, "new (ps)", after);
  add_numbers(table, "new/old", ratios);
  add_words(table, TableColumn{.title = "metric", .room = harness::Room::key}, metrics);
  add_words(table, TableColumn{.title = "point", .room = harness::Room::key}, points);
  return table;
}

Table unpaired_table(std::string caption, const std::vector<UnpairedTime>& times) {
  Table table{.caption = std::move(caption)};
  std::vector<std::string> points, metrics, picoseconds, reasons;
  for (const UnpairedTime& one : times) {
    points.push_back(one.point);
    metrics.push_back(one.metric);
    picoseconds.push_back(std::to_string(one.time.ps()));
    reasons.push_back(one.reason);
  }
  add_numbers(table, "time (ps)", picoseconds);
  add_words(table, TableColumn{.title = "metric", .room = harness::Room::key}, metrics);
  add_words(table, TableColumn{.title = "point", .room = harness::Room::key}, points);
  add_words(table, TableColumn{.title = "reason", .room = harness::Room::key}, reasons);
  return table;
}

std::string with_interval(const harness::Metric& metric) {
  std::string text = format_quantity(metric.value, metric.unit);
  if (metric.ci95) {
    text += fmt::format(" [{}, {}]", format_quantity(metric.ci95->front(), metric.unit),
                        format_quantity(metric.ci95->back(), metric.unit));
  }
  return text;
}

Table sampled_table(const std::vector<SampledPair>& pairs) {
  Table table{.caption = "wall-clock metrics, with their 95 % intervals",
              .notes = {"repeated measurements are shown only: they decide nothing"}};
  std::vector<std::string> points, metrics, before, after, ratios;
  for (const SampledPair& pair : pairs) {
    points.push_back(pair.point);
    metrics.push_back(pair.before.name);
    before.push_back(with_interval(pair.before));
    after.push_back(with_interval(pair.after));
    ratios.push_back(pair.before.value == 0 ? ""
                                            : ratio_text(pair.after.value / pair.before.value));
  }
  add_words(table, "old", before);
  add_words(table, "new", after);
  add_numbers(table, "new/old", ratios);
  add_words(table, TableColumn{.title = "metric", .room = harness::Room::key}, metrics);
  add_words(table, TableColumn{.title = "point", .room = harness::Room::key}, points);
  return table;
}

}  // namespace

std::optional<double> MovedTime::ratio() const {
  if (before.ps() == 0) return std::nullopt;
  return static_cast<double>(after.ps()) / static_cast<double>(before.ps());
}

bool MovedTime::is_slower(double threshold) const {
  return static_cast<double>((after - before).ps()) > threshold * static_cast<double>(before.ps());
}

Comparison compare(const TimeRecord& before, const TimeRecord& after) {
  Comparison comparison{.missing = unpaired(before, after),
                        .added = unpaired(after, before),
                        .sampled = pair_sampled(before, after)};
  const std::map<Key, SimTime> now = by_key(after);
  for (const ExactTime& old : before.exact) {
    const auto found = now.find({old.point, old.metric});
    if (found == now.end()) continue;
    if (found->second == old.time) {
      ++comparison.unchanged;
    } else {
      comparison.moved.push_back({old.point, old.metric, old.time, found->second});
    }
  }
  std::ranges::stable_sort(comparison.moved, std::greater{}, distance);
  if (before.conditions != after.conditions) {
    comparison.warnings.push_back(fmt::format("the two ran under different conditions: {} | {}",
                                              join(before.conditions, "; "),
                                              join(after.conditions, "; ")));
  }
  return comparison;
}

std::vector<Table> comparison_tables(const Comparison& comparison) {
  std::vector<Table> tables;
  if (!comparison.moved.empty()) tables.push_back(moved_table(comparison.moved));
  if (!comparison.missing.empty()) {
    tables.push_back(unpaired_table("missing: only in the first", comparison.missing));
  }
  if (!comparison.added.empty()) {
    tables.push_back(unpaired_table("new: only in the second", comparison.added));
  }
  if (!comparison.sampled.empty()) tables.push_back(sampled_table(comparison.sampled));
  return tables;
}

}  // namespace howard::reports
