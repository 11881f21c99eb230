// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/comparison/comparison_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "harness/statistics.h"
#include "reports/tables/columns.h"
#include "reports/tables/format.h"

namespace howard::tracking {
namespace {

using harness::Room;
using reports::Table;
using reports::TableColumn;

using Rows = std::vector<const JudgedRow*>;

void add_numbers(Table& table, std::string title, const std::vector<std::string>& texts) {
  add_words(table, TableColumn{.title = std::move(title), .number = true}, texts);
}

template <class Text>
std::vector<std::string> texts_of(const Rows& rows, Text text) {
  std::vector<std::string> texts;
  for (const JudgedRow* const row : rows) texts.emplace_back(text(*row));
  return texts;
}

template <class Choose>
Rows chosen(const Comparison& comparison, Choose choose) {
  Rows rows;
  for (const JudgedRow& row : comparison.rows) {
    if (choose(row)) rows.push_back(&row);
  }
  return rows;
}

void add_names(Table& table, const Rows& rows) {
  const auto metrics = texts_of(rows, [](const JudgedRow& row) { return row.series.metric; });
  add_words(table, TableColumn{.title = "metric", .room = Room::key}, metrics);
  const auto names = texts_of(rows, [](const JudgedRow& row) { return row.series.benchmark; });
  add_words(table, TableColumn{.title = "point", .room = Room::key}, names);
}

void add_verdicts(Table& table, const Rows& rows) {
  add_words(table, "verdict",
            texts_of(rows, [](const JudgedRow& row) { return name_of(row.verdict); }));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    reports::Tone& tone = table.rows[i].cells.back().tone;
    if (rows[i]->verdict == Verdict::slower || rows[i]->verdict == Verdict::failed) {
      tone = reports::Tone::bad;
    } else if (rows[i]->verdict == Verdict::faster) {
      tone = reports::Tone::good;
    } else if (rows[i]->verdict != Verdict::same) {
      tone = reports::Tone::fair;
    }
  }
}

/// Returns the place of a row's verdict: what is slower comes first.
int severity(const JudgedRow* row) {
  switch (row->verdict) {
    case Verdict::slower:
      return 0;
    case Verdict::faster:
      return 1;
    case Verdict::stale:
      return 2;
    case Verdict::ambiguous:
      return 3;
    default:
      return 4;
  }
}

Table exact_table(Rows rows) {
  std::ranges::stable_sort(rows, std::greater{}, &JudgedRow::distance);
  std::ranges::stable_sort(rows, {}, severity);
  Table table{.caption = "exact times that moved"};
  add_verdicts(table, rows);
  add_numbers(table, "old (ps)",
              texts_of(rows, [](const JudgedRow& row) { return std::to_string(row.before_ps); }));
  add_numbers(table, "new (ps)",
              texts_of(rows, [](const JudgedRow& row) { return std::to_string(row.after_ps); }));
  add_numbers(table, "new/old", texts_of(rows, [](const JudgedRow& row) {
                // A picosecond of a millisecond shows.
                return row.change() ? fmt::format("{:.9g}", *row.change()) : std::string();
              }));
  make_keys(table, {"new/old"});
  add_names(table, rows);
  add_words(table, TableColumn{.title = "what moved with it"},
            texts_of(rows, [](const JudgedRow& row) {
              return row.reason.empty() ? row.explanation : row.reason;
            }));
  return table;
}

std::string interval_text(const JudgedRow& row) {
  if (!row.interval || !std::isfinite(row.interval->front()) || row.interval->front() <= 0 ||
      !std::isfinite(row.interval->back())) {
    return "";
  }
  return fmt::format("{:+.1f} to {:+.1f}", 100 * (row.interval->front() - 1),
                     100 * (row.interval->back() - 1));
}

Table sampled_table(Rows rows) {
  std::ranges::stable_sort(rows, std::greater{}, &JudgedRow::distance);
  std::ranges::stable_sort(rows, {}, severity);
  Table table{.caption = "sampled metrics"};
  add_verdicts(table, rows);
  const auto quantity = [](double value, const JudgedRow& row) {
    return reports::format_quantity(value, row.series.unit);
  };
  add_numbers(table, "old",
              texts_of(rows, [&](const JudgedRow& row) { return quantity(row.before, row); }));
  add_numbers(table, "new",
              texts_of(rows, [&](const JudgedRow& row) { return quantity(row.after, row); }));
  add_numbers(table, "change (%)", texts_of(rows, [](const JudgedRow& row) {
                return row.change() ? fmt::format("{:+.1f}", 100 * (*row.change() - 1))
                                    : std::string();
              }));
  make_keys(table, {"change (%)"});
  add_numbers(table, "95 % interval", texts_of(rows, interval_text));
  add_numbers(table, "detects (%)", texts_of(rows, [](const JudgedRow& row) {
                return row.detects ? fmt::format("{:.1f}", 100 * *row.detects) : std::string();
              }));
  add_numbers(table, "runs",
              texts_of(rows, [](const JudgedRow& row) { return std::to_string(row.runs); }));
  add_numbers(table, "needs", texts_of(rows, [](const JudgedRow& row) {
                return row.needed ? std::to_string(*row.needed) : std::string();
              }));
  add_names(table, rows);
  const auto reasons = texts_of(rows, [](const JudgedRow& row) { return row.reason; });
  add_words(table, TableColumn{.title = "reason"}, reasons);
  return table;
}

Table unpaired_table(std::string caption, const Rows& rows) {
  Table table{.caption = std::move(caption)};
  add_numbers(table, "value", texts_of(rows, [](const JudgedRow& row) {
                return reports::format_quantity(row.before + row.after, row.series.unit);
              }));
  add_names(table, rows);
  const auto reasons = texts_of(rows, [](const JudgedRow& row) { return row.reason; });
  add_words(table, TableColumn{.title = "reason", .room = Room::key}, reasons);
  return table;
}

std::string counts_of(const Comparison& comparison, Kind kind, std::string_view title) {
  std::size_t total = 0;
  std::string text;
  for (const Verdict verdict :
       {Verdict::same, Verdict::slower, Verdict::faster, Verdict::stale, Verdict::ambiguous}) {
    const std::size_t count = comparison.count(verdict, kind);
    total += count;
    const bool always = verdict != Verdict::stale && verdict != Verdict::ambiguous;
    if (count == 0 && !always) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name_of(verdict));
  }
  return total == 0 ? "" : fmt::format("{} {}: {}", total, title, text);
}

/// Returns which change of sampled metrics the comparison could have seen; "" without such metrics.
std::string detection_line(const Comparison& comparison) {
  std::vector<double> detected;
  std::size_t too_few = 0;
  for (const JudgedRow& row : comparison.rows) {
    if (row.detects) {
      detected.push_back(*row.detects);
    } else if (row.series.kind == Kind::sampled && row.ratio) {
      ++too_few;
    }
  }
  std::string text;
  if (!detected.empty()) {
    text = fmt::format(
        "the smallest change that these runs show four times out of five: {:.1f} % for half of the "
        "sampled metrics, {:.1f} % for {}",
        100 * *harness::median(detected), 100 * *std::ranges::max_element(detected),
        too_few == 0 ? "all" : "all but those with too few runs");
  } else if (too_few > 0) {
    text = fmt::format("{} too few runs to show any change",
                       too_few == 1 ? "the sampled metric has" : "the sampled metrics have");
  }
  return text;
}

}  // namespace

std::string row_name(const Series& series) {
  const bool plain = series.metric.empty() || series.metric == "time";
  return plain ? series.benchmark : series.benchmark + " " + series.metric;
}

std::string row_words(const JudgedRow& row) {
  std::string text(name_of(row.verdict));
  const bool paired = row.verdict != Verdict::missing && row.verdict != Verdict::added &&
                      row.verdict != Verdict::failed;
  if (paired) {
    text += fmt::format(": {} -> {}", reports::format_quantity(row.before, row.series.unit),
                        reports::format_quantity(row.after, row.series.unit));
    if (row.series.kind == Kind::exact && row.after_ps != row.before_ps) {
      text += fmt::format(" ({:+} ps", row.after_ps - row.before_ps);
      if (row.change()) text += fmt::format(", {:+.3g} %", 100 * (*row.change() - 1));
      text += ')';
    } else if (row.change()) {
      text += fmt::format(" ({:+.1f} %)", 100 * (*row.change() - 1));
    }
    const std::string interval = interval_text(row);
    if (!interval.empty()) text += fmt::format(", 95 % interval {} %", interval);
  }
  if (row.needed) text += fmt::format(", {} runs would decide", *row.needed);
  for (const std::string& more : {row.explanation, row.reason}) {
    if (!more.empty()) text += (paired ? ", " : ": ") + more;
  }
  return text;
}

std::vector<Table> comparison_tables(const Comparison& comparison) {
  std::vector<Table> tables;
  const auto is_unpaired = [](const JudgedRow& row) {
    return row.verdict == Verdict::added || row.verdict == Verdict::missing ||
           row.verdict == Verdict::failed;
  };
  const Rows moved = chosen(comparison, [&](const JudgedRow& row) {
    return row.series.kind == Kind::exact && !is_unpaired(row) && row.before_ps != row.after_ps;
  });
  if (!moved.empty()) tables.push_back(exact_table(moved));
  const Rows sampled = chosen(comparison, [&](const JudgedRow& row) {
    return row.series.kind == Kind::sampled && !is_unpaired(row);
  });
  if (!sampled.empty()) tables.push_back(sampled_table(sampled));
  const auto add_unpaired = [&](Verdict verdict, std::string caption) {
    const Rows rows =
        chosen(comparison, [&](const JudgedRow& row) { return row.verdict == verdict; });
    if (!rows.empty()) tables.push_back(unpaired_table(std::move(caption), rows));
  };
  add_unpaired(Verdict::missing, "missing: only in the first");
  add_unpaired(Verdict::added, "new: only in the second");
  add_unpaired(Verdict::failed, "failed in the second");
  return tables;
}

std::vector<std::string> comparison_lines(const Comparison& comparison) {
  std::vector<std::string> lines;
  for (const std::string& line : {counts_of(comparison, Kind::exact, "exact times"),
                                  counts_of(comparison, Kind::sampled, "sampled metrics")}) {
    if (!line.empty()) lines.push_back(line);
  }
  lines.push_back(fmt::format("{} missing, {} new, {} failed", comparison.count(Verdict::missing),
                              comparison.count(Verdict::added), comparison.count(Verdict::failed)));
  if (!comparison.effort.empty()) lines.push_back(comparison.effort);
  const std::string detected = detection_line(comparison);
  if (!detected.empty()) lines.push_back(detected);
  const bool needs_more = std::ranges::any_of(
      comparison.rows, [](const JudgedRow& row) { return row.needed.has_value(); });
  if (needs_more) {
    lines.emplace_back(
        "more runs decide: a folder of files for each side, one for each run, or track them; "
        "--exec-a OLD --exec-b NEW with more --pairs; or --threshold R, which knows no noise");
  }
  constexpr std::size_t kMost = 10;
  if (!comparison.constants.empty()) {
    std::vector<std::string> shown = comparison.constants;
    if (shown.size() > kMost) {
      shown.resize(kMost);
      shown.push_back(fmt::format("{} more", comparison.constants.size() - kMost));
    }
    lines.push_back("constants that moved: " + join(shown, "; "));
  }
  return lines;
}

}  // namespace howard::tracking
