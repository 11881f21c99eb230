// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/comparison/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "harness/paired_test.h"
#include "harness/statistics.h"
#include "harness/tracking/comparison/explanation.h"

namespace howard::tracking {
namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();

/// Names a row without its kind and unit: what a user would call the same thing.
using Key = std::pair<std::string, std::string>;

std::map<Key, const Row*> judged_rows(const Run& run) {
  std::map<Key, const Row*> rows;
  for (const Row& row : run.rows) {
    if (row.series.is_judged()) rows.emplace(Key{row.series.benchmark, row.series.metric}, &row);
  }
  return rows;
}

/// Returns why each benchmark has no metrics in this run.
std::map<std::string, const Row*> absent_benchmarks(const Run& run) {
  std::map<std::string, const Row*> absent;
  for (const Row& row : run.rows) {
    if (row.series.kind == Kind::failed || row.series.kind == Kind::skipped) {
      absent.emplace(row.series.benchmark, &row);
    }
  }
  return absent;
}

JudgedRow unpaired_row(const Row& row, Verdict verdict,
                       const std::map<std::string, const Row*>& absent_on_other) {
  JudgedRow judged{.series = row.series, .verdict = verdict};
  (verdict == Verdict::added ? judged.after : judged.before) = row.value;
  (verdict == Verdict::added ? judged.after_ps : judged.before_ps) = row.picoseconds;
  const auto absent = absent_on_other.find(row.series.benchmark);
  if (absent != absent_on_other.end()) judged.reason = absent->second->words;
  return judged;
}

Verdict exact_verdict(const Row& before, const Row& after, const Limits& limits) {
  const auto moved = static_cast<double>(after.picoseconds - before.picoseconds);
  if (moved == 0) return Verdict::same;
  if (moved < 0) return Verdict::faster;
  return moved > limits.threshold * static_cast<double>(before.picoseconds) ? Verdict::slower
                                                                            : Verdict::same;
}

std::vector<double> observations(const Side& side, const Series& series) {
  // Stored runs may have another direction, which was guessed otherwise by then.
  const auto is_same = [&](Series other) {
    other.better = series.better;
    return other == series;
  };
  std::vector<double> values;
  for (const auto& [other, earlier] : side.earlier) {
    if (is_same(other)) values.insert(values.end(), earlier.begin(), earlier.end());
  }
  for (const Run& run : side.runs) {
    for (const Row& row : run.rows) {
      if (is_same(row.series)) values.push_back(row.value);
    }
  }
  return values;
}

struct Observed {
  JudgedRow* row;
  std::vector<double> before, after;  ///< On the row's scale.
  harness::Shift shift;
};

/// Returns by how much all rows moved, if nearly all of them moved in one direction: the machine is
/// a likelier cause than any change of the code.
double common_shift(const std::vector<Observed>& rows, const Limits& limits) {
  constexpr std::size_t kFewest = 8;
  constexpr double kNearlyAll = 0.8;
  std::vector<double> shifts;
  for (const Observed& one : rows) {
    if (one.row->share_of == 0) shifts.push_back(one.shift.estimate);
  }
  if (shifts.size() < kFewest) return 0;
  const double middle = *harness::median(shifts);
  const auto alike =
      std::ranges::count_if(shifts, [&](double shift) { return shift * middle > 0; });
  const bool together =
      static_cast<double>(alike) >= kNearlyAll * static_cast<double>(shifts.size());
  return together && std::abs(middle) > limits.relative_floor ? middle : 0;
}

/// Returns the shift as a share of the value before, or of the row's `share_of`.
double relative(const JudgedRow& row, double shift) {
  return row.share_of != 0 ? shift : std::expm1(shift);
}

/// Returns the verdict on a row that has moved by `shift` for certain.
Verdict moved_verdict(const JudgedRow& row, double shift) {
  const bool worse = (shift > 0) == (row.series.better == harness::Better::lower);
  return worse ? Verdict::slower : Verdict::faster;
}

/// Judges a row by its medians and the threshold alone.
void judge_plainly(JudgedRow& row, const Observed& one, const Limits& limits) {
  const double shift = *harness::median(one.after) - *harness::median(one.before);
  row.runs = std::min(one.before.size(), one.after.size());
  row.verdict =
      std::abs(relative(row, shift)) > limits.threshold ? moved_verdict(row, shift) : Verdict::same;
  if (row.share_of == 0) row.ratio = std::exp(shift);
}

/// Returns the sampled rows that both sides have, on their scales.
std::vector<Observed> observed_rows(Comparison& comparison, const Side& before, const Side& after) {
  std::vector<Observed> rows;
  for (JudgedRow& row : comparison.rows) {
    if (row.series.kind != Kind::sampled || row.verdict == Verdict::added ||
        row.verdict == Verdict::missing || row.verdict == Verdict::failed) {
      continue;
    }
    const std::vector<double> old_values = observations(before, row.series);
    const std::vector<double> new_values = observations(after, row.series);
    if (old_values.empty() || new_values.empty()) {
      row.verdict = Verdict::ambiguous;  // a program changed the metric's kind or direction
      continue;
    }
    const Scale scale(old_values, new_values);
    row.share_of = scale.share_of();
    row.before = *harness::median(old_values);
    row.after = *harness::median(new_values);
    rows.push_back(
        {.row = &row, .before = scale.of(old_values), .after = scale.of(new_values), .shift = {}});
  }
  return rows;
}

void judge_apart(Comparison& comparison, const Side& before, const Side& after,
                 const Limits& limits) {
  constexpr double kAlpha = 0.05;
  std::vector<Observed> rows = observed_rows(comparison, before, after);
  if (limits.plain) {
    for (const Observed& one : rows) judge_plainly(*one.row, one, limits);
    if (!rows.empty()) {
      comparison.effort = fmt::format(
          "sampled metrics are judged by their medians and the threshold of {:g} % alone, without "
          "regard to noise",
          100 * limits.threshold);
    }
    return;
  }
  for (Observed& one : rows) one.shift = harness::student_shift(one.before, one.after, kAlpha);
  const double common = common_shift(rows, limits);
  if (common != 0) {
    comparison.moved_together = true;
    comparison.warnings.push_back(fmt::format(
        "nearly all sampled metrics moved together, by {:+.1f} %: the machine may have changed; "
        "rows "
        "are judged against that shift; compare --exec-a A --exec-b B tells machine and code apart",
        100 * std::expm1(common)));
  }
  std::vector<double> p;
  for (Observed& one : rows) {
    if (one.row->share_of == 0) {
      for (double& value : one.after) value -= common;
    }
    p.push_back(harness::student_shift(one.before, one.after, kAlpha).p);
  }
  const std::vector<double> adjusted = harness::holm(p);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    JudgedRow& row = *rows[i].row;
    const harness::Shift& shift = rows[i].shift;
    if (row.share_of == 0) {
      row.ratio = std::exp(shift.estimate);
      row.interval = {std::exp(shift.interval[0]), std::exp(shift.interval[1])};
    }
    judge(row,
          {.shift = shift.estimate - (row.share_of == 0 ? common : 0),
           .p = adjusted[i],
           .half_width = shift.half_width(),
           .alpha = kAlpha,
           .runs = std::min(rows[i].before.size(), rows[i].after.size())},
          limits);
  }
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::same:
      return "same";
    case Verdict::faster:
      return "faster";
    case Verdict::slower:
      return "slower";
    case Verdict::ambiguous:
      return "ambiguous";
    case Verdict::stale:
      return "stale";
    case Verdict::added:
      return "new";
    case Verdict::missing:
      return "missing";
    case Verdict::failed:
      return "failed";
  }
  return "";
}

std::optional<double> JudgedRow::change() const {
  if (ratio) return ratio;
  if (before <= 0 || after < 0) return std::nullopt;
  return series.kind == Kind::exact && before_ps != 0
             ? static_cast<double>(after_ps) / static_cast<double>(before_ps)
             : after / before;
}

std::size_t Comparison::count(Verdict verdict) const {
  return static_cast<std::size_t>(std::ranges::count(rows, verdict, &JudgedRow::verdict));
}

std::size_t Comparison::count(Verdict verdict, Kind kind) const {
  return static_cast<std::size_t>(std::ranges::count_if(rows, [&](const JudgedRow& row) {
    return row.verdict == verdict && row.series.kind == kind;
  }));
}

double JudgedRow::distance() const {
  if (series.kind != Kind::exact) {
    const bool moved_without_ratio = !change() && before != after;
    return std::abs(std::log(std::max(change().value_or(moved_without_ratio ? 0 : 1), 1e-300)));
  }
  // One picosecond more makes zeros comparable and changes no order that a reader could see.
  return std::abs(
      std::log((static_cast<double>(after_ps) + 1) / (static_cast<double>(before_ps) + 1)));
}

void require_comparable(const Side& before, const Side& after) {
  const auto fail = [&](std::string value, std::string hint) {
    throw Error({.attempted = fmt::format("compare {} with {}", before.name, after.name),
                 .value = std::move(value),
                 .hint = std::move(hint)});
  };
  const auto old_rows = judged_rows(before.last());
  for (const auto& [key, row] : judged_rows(after.last())) {
    const auto old = old_rows.find(key);
    if (old == old_rows.end()) continue;
    if (old->second->series.unit != row->series.unit) {
      fail(fmt::format("{} of {} is in '{}' and in '{}'", key.second, key.first,
                       old->second->series.unit, row->series.unit),
           "results of one unit");
    }
    const std::string differs =
        difference(before.last().conditions, after.last().conditions, row->series.kind);
    if (!differs.empty()) fail(differs, "--anyway, if that is the question");
  }
}

Scale::Scale(const std::vector<double>& before, const std::vector<double>& after) {
  const auto positive = [](double value) { return value > 0; };
  if (std::ranges::all_of(before, positive) && std::ranges::all_of(after, positive)) return;
  for (const auto* const side : {&before, &after}) {
    share_of_ = std::max(share_of_, std::abs(harness::median(*side).value_or(0)));
  }
  if (share_of_ > 0) return;
  for (const auto* const side : {&before, &after}) {
    for (const double value : *side) share_of_ = std::max(share_of_, std::abs(value));
  }
  if (share_of_ == 0) share_of_ = 1;  // all are zero, which is no shift on any scale
}

std::vector<double> Scale::of(const std::vector<double>& values) const {
  std::vector<double> scaled;
  for (const double value : values) {
    scaled.push_back(share_of_ == 0 ? std::log(value) : value / share_of_);
  }
  return scaled;
}

bool exceeds_floors(const JudgedRow& row, double shift, const Limits& limits) {
  const double moved = std::abs(relative(row, shift));
  if (moved <= limits.relative_floor) return false;
  const double whole = row.share_of != 0 ? row.share_of : row.before;
  return row.series.unit != "s" || whole * moved > limits.absolute_floor;
}

void judge(JudgedRow& row, const Judgement& judgement, const Limits& limits) {
  // A change has to pass a screening and a test that follows. Each must succeed in nine of ten
  // cases for both to succeed in four of five; 1.28 is that quantile.
  constexpr double kPower = 1.28;
  row.runs = judgement.runs;
  const double error = judgement.half_width / harness::normal_quantile(1 - judgement.alpha / 2);
  const double reach = (harness::normal_quantile(1 - limits.alpha / 2) + kPower) * error;
  const bool finite = std::isfinite(reach);
  if (finite) {
    row.detects = std::max(relative(row, reach), limits.relative_floor);
    if (row.series.unit == "s" && row.before > 0) {
      row.detects = std::max(*row.detects, limits.absolute_floor / row.before);
    }
  }
  const auto runs = static_cast<double>(judgement.runs);
  const auto runs_for = [&](double change) {
    const std::size_t fewest = std::max<std::size_t>(harness::fewest_pairs(limits.alpha), 6);
    if (!finite) return fewest;
    const double most = std::max(change, limits.relative_floor);
    const double wanted = row.share_of != 0 ? most : std::log1p(most);
    const double needed = std::min(1e6, std::ceil(runs * std::pow(reach / wanted, 2)));
    return std::max({fewest, judgement.runs + 1, static_cast<std::size_t>(needed)});
  };
  const bool large = exceeds_floors(row, judgement.shift, limits);
  if (judgement.p <= limits.alpha && large) {
    row.verdict = moved_verdict(row, judgement.shift);
  } else if (large && (judgement.p <= judgement.alpha ||
                       std::abs(relative(row, judgement.shift)) > row.detects.value_or(kEndless))) {
    row.verdict = Verdict::ambiguous;
    row.needed = runs_for(std::abs(relative(row, judgement.shift)));
  } else if (!finite || *row.detects > limits.detect) {
    row.verdict = Verdict::ambiguous;
    row.needed = runs_for(limits.detect);
  } else {
    row.verdict = Verdict::same;
  }
}

Comparison compare_exact(const Side& before, const Side& after, const Limits& limits) {
  Comparison comparison{.before = before.name, .after = after.name};
  const auto old_rows = judged_rows(before.last());
  const auto new_rows = judged_rows(after.last());
  const auto absent_before = absent_benchmarks(before.last());
  const auto absent_after = absent_benchmarks(after.last());
  const Explainer explainer(before.last(), after.last());
  for (const auto& [key, row] : old_rows) {
    const auto found = new_rows.find(key);
    if (found == new_rows.end()) {
      const auto absent = absent_after.find(key.first);
      const bool failed =
          absent != absent_after.end() && absent->second->series.kind == Kind::failed;
      if (!failed) comparison.rows.push_back(unpaired_row(*row, Verdict::missing, absent_after));
      continue;
    }
    const Row& now = *found->second;
    JudgedRow judged{.series = now.series,
                     .before = row->value,
                     .after = now.value,
                     .before_ps = row->picoseconds,
                     .after_ps = now.picoseconds};
    if (now.series.kind == Kind::exact) {
      judged.verdict = exact_verdict(*row, now, limits);
      if (now.picoseconds != row->picoseconds) judged.explanation = explainer.explain(now.series);
    }
    comparison.rows.push_back(std::move(judged));
  }
  for (const auto& [key, row] : new_rows) {
    if (old_rows.contains(key)) continue;
    comparison.rows.push_back(unpaired_row(*row, Verdict::added, absent_before));
  }
  for (const auto& [benchmark, row] : absent_after) {
    if (row->series.kind != Kind::failed) continue;
    comparison.rows.push_back(
        {.series = row->series, .verdict = Verdict::failed, .reason = row->words});
  }
  comparison.constants = explainer.constants();
  const Conditions& old = before.last().conditions;
  const Conditions& now = after.last().conditions;
  if (old.seed != now.seed) {
    comparison.warnings.push_back(
        fmt::format("the two ran with different seeds: {} and {}", old.seed, now.seed));
  }
  for (const Kind kind : {Kind::exact, Kind::sampled}) {
    const std::string differs = difference(old, now, kind);
    const bool concerns = std::ranges::any_of(
        comparison.rows, [&](const JudgedRow& row) { return row.series.kind == kind; });
    if (!differs.empty() && concerns) {
      comparison.warnings.push_back("the two ran under different conditions: " + differs);
    }
  }
  return comparison;
}

Comparison compare_sides(const Side& before, const Side& after, const Limits& limits) {
  Comparison comparison = compare_exact(before, after, limits);
  judge_apart(comparison, before, after, limits);
  return comparison;
}

void mark_stale(Comparison& comparison, const Side& newest, const Side& after,
                const std::function<std::string(const Series&)>& since, const Limits& limits) {
  const Comparison against = compare_sides(newest, after, limits);
  for (JudgedRow& row : comparison.rows) {
    if (row.verdict != Verdict::slower && row.verdict != Verdict::faster) continue;
    const auto now = std::ranges::find(against.rows, row.series, &JudgedRow::series);
    if (now == against.rows.end() || now->verdict != Verdict::same) continue;
    row.verdict = Verdict::stale;
    row.reason = "the baseline's branch has had this level " + since(row.series);
  }
}

}  // namespace howard::tracking
