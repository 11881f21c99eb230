// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/paired_test.h"
#include "harness/statistics.h"
#include "reports/tables/columns.h"
#include "reports/tables/format.h"

namespace howard::tracking {
namespace {

using nlohmann::ordered_json;
using reports::Table;
using reports::TableColumn;

bool is_alarm(const JudgedRow& row) {
  return row.verdict == Verdict::slower || row.verdict == Verdict::faster;
}

/// Counts the rows that are slower in `comparison`, and returns the runs that the ambiguous ones
/// ask for; 0 if none is.
std::size_t count_slowed(const Comparison& comparison,
                         const std::function<bool(const Series&)>& concerns, Detection& counts) {
  std::size_t needed = 0;
  for (const JudgedRow& row : comparison.rows) {
    if (row.series.kind != Kind::sampled || !concerns(row.series)) continue;
    if (row.verdict == Verdict::slower) {
      ++counts.found;
    } else if (row.verdict == Verdict::ambiguous) {
      ++counts.ambiguous;
      needed = std::max(needed, row.needed.value_or(0));
    } else {
      ++counts.missed;
    }
  }
  return needed;
}

void add_detection(Detection& sum, const Detection& first, const Detection* second) {
  sum.found += first.found;
  sum.missed += first.missed;
  if (second == nullptr) {
    sum.ambiguous += first.ambiguous;
    return;
  }
  // Only the rows that were ambiguous count in the second comparison: those that the first one
  // found are found, those that it missed stay missed.
  const std::size_t later = second->found > first.found ? second->found - first.found : 0;
  const std::size_t found_later = std::min(later, first.ambiguous);
  const std::size_t left = first.ambiguous - found_later;
  const std::size_t ambiguous = std::min(left, second->ambiguous);
  sum.found_later += found_later;
  sum.ambiguous += ambiguous;
  sum.missed += left - ambiguous;
}

std::string share_text(std::size_t hits, std::size_t count) {
  return count == 0
             ? ""
             : fmt::format("{:.1f}", 100 * static_cast<double>(hits) / static_cast<double>(count));
}

/// Returns the change that `share` of the rows would have shown; absent if no row says.
std::optional<double> detected_by(const GateFindings& findings, double share) {
  if (findings.detects.empty()) return std::nullopt;
  std::vector<double> detects = findings.detects;
  std::ranges::sort(detects);
  return detects[static_cast<std::size_t>(share * static_cast<double>(detects.size() - 1))];
}

/// Returns hits of count as JSON, with the share and its interval.
ordered_json share_value(std::size_t hits, std::size_t count) {
  ordered_json value{{"count", hits}, {"of", count}};
  if (count == 0) return value;
  value["share"] = static_cast<double>(hits) / static_cast<double>(count);
  value["ci95"] = harness::share_interval95(hits, count);
  return value;
}

}  // namespace

GateFindings test_gate(const Source& suite, const std::function<Source(double)>& slowed,
                       const std::function<bool(const Series&)>& concerns, const Limits& limits,
                       const GateOptions& options) {
  GateFindings findings;
  std::uint64_t seed = options.seed;
  const auto compare = [&](const Source& second, std::size_t pairs, const Limits& with,
                           const std::string& what) {
    return compare_pairs("A", suite, "B", second, with,
                         {.pairs = pairs, .seed = seed++, .progress = [&](const std::string& text) {
                            if (options.progress) options.progress(what + ", " + text);
                          }});
  };
  const auto tell = [&](const GateFindings& so_far, const std::string& what) {
    if (options.compared) options.compared(so_far, what);
  };
  for (std::size_t i = 0; i < options.comparisons; ++i) {
    const std::string what = fmt::format("A against A {} of {}", i + 1, options.comparisons);
    const Comparison comparison = compare(suite, options.pairs, limits, what);
    ++findings.comparisons;
    bool alarm = false;
    for (const JudgedRow& row : comparison.rows) {
      if (row.series.kind != Kind::sampled) continue;
      ++findings.rows;
      findings.row_alarms += is_alarm(row) ? 1U : 0U;
      findings.ambiguous += row.verdict == Verdict::ambiguous ? 1U : 0U;
      alarm = alarm || is_alarm(row);
      if (row.detects) findings.detects.push_back(*row.detects);
    }
    findings.alarms += alarm ? 1U : 0U;
    tell(findings, what);
  }
  for (const double slowdown : options.slowdowns) {
    findings.detections.push_back({.slowdown = slowdown});
    Limits with = limits;
    with.detect = slowdown;
    const Source second = slowed(slowdown);
    const std::size_t count = (options.comparisons + 1) / 2;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string what = fmt::format("{:+.0f} % {} of {}", 100 * slowdown, i + 1, count);
      Detection first;
      const std::size_t needed =
          count_slowed(compare(second, options.pairs, with, what), concerns, first);
      Detection again;
      if (needed > 0) {
        count_slowed(compare(second, std::min(needed, options.most_pairs), with, what + " again"),
                     concerns, again);
      }
      add_detection(findings.detections.back(), first, needed > 0 ? &again : nullptr);
      tell(findings, what);
    }
  }
  return findings;
}

Table gate_table(const GateFindings& findings) {
  Table table{.caption = "the gate's own test"};
  std::vector<std::string> kinds{"A against A"}, trials{std::to_string(findings.comparisons)},
      found{share_text(findings.alarms, findings.comparisons)}, later{""}, ambiguous{""},
      missed{""};
  for (const Detection& one : findings.detections) {
    kinds.push_back(fmt::format("{:+.3g} %", 100 * one.slowdown));
    trials.push_back(std::to_string(one.count()));
    found.push_back(share_text(one.found, one.count()));
    later.push_back(share_text(one.found_later, one.count()));
    ambiguous.push_back(share_text(one.ambiguous, one.count()));
    missed.push_back(share_text(one.missed, one.count()));
  }
  const auto add = [&](std::string title, const std::vector<std::string>& texts) {
    add_words(table, TableColumn{.title = std::move(title), .number = true}, texts);
  };
  add_words(table, "change", kinds);
  add("trials", trials);
  add("alarm (%)", found);
  add("with the runs asked for (%)", later);
  add("ambiguous (%)", ambiguous);
  add("missed (%)", missed);
  table.notes.emplace_back(
      "a trial is a whole suite in the first line, and a slower row in the others");
  return table;
}

std::vector<std::string> gate_lines(const GateFindings& findings, const Limits& limits) {
  std::vector<std::string> lines;
  if (findings.comparisons > 0) {
    const auto interval = harness::share_interval95(findings.alarms, findings.comparisons);
    lines.push_back(fmt::format(
        "{} of {} suites raised a false alarm: {:.2g} to {:.2g} % with 95 % confidence, {:.2g} % "
        "promised; {} of {} rows, {} more were ambiguous",
        findings.alarms, findings.comparisons, 100 * interval[0], 100 * interval[1],
        100 * limits.alpha, findings.row_alarms, findings.rows, findings.ambiguous));
  }
  if (!findings.detects.empty()) {
    lines.push_back(
        fmt::format("the smallest change that these runs show four times out of five: {:.1f} % for "
                    "half of the rows, {:.1f} % for nine of ten",
                    100 * *detected_by(findings, 0.5), 100 * *detected_by(findings, 0.9)));
  }
  return lines;
}

std::string gate_json(const GateFindings& findings, const Limits& limits,
                      const GateRecord& record) {
  ordered_json file{{"schema", "howard.gate/1"},
                    {"finished", record.finished},
                    {"machine", record.machine},
                    {"load", record.load},
                    {"seconds", record.seconds},
                    {"pairs", record.pairs},
                    {"most_pairs", record.most_pairs},
                    {"alpha", limits.alpha},
                    {"relative_floor", limits.relative_floor}};
  file["suites_with_an_alarm"] = share_value(findings.alarms, findings.comparisons);
  file["rows_with_an_alarm"] = share_value(findings.row_alarms, findings.rows);
  file["ambiguous_rows"] = share_value(findings.ambiguous, findings.rows);
  if (const auto half = detected_by(findings, 0.5)) {
    file["smallest_change"] = {{"half_of_the_rows", *half},
                               {"nine_of_ten", *detected_by(findings, 0.9)}};
  }
  ordered_json& slowdowns = file["slowdowns"] = ordered_json::array();
  for (const Detection& one : findings.detections) {
    ordered_json value{{"slowdown", one.slowdown}};
    value["found"] = share_value(one.found, one.count());
    value["found_with_the_runs_asked_for"] = share_value(one.found_later, one.count());
    value["ambiguous"] = share_value(one.ambiguous, one.count());
    value["missed"] = share_value(one.missed, one.count());
    slowdowns.push_back(std::move(value));
  }
  return file.dump(2) + "\n";
}

}  // namespace howard::tracking
