// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/gate.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/paired_test.h"
#include "harness/statistics.h"
#include "reports/tables/columns.h"
#include "reports/tables/format.h"

namespace howard::tracking {
namespace {

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
  for (std::size_t i = 0; i < options.comparisons; ++i) {
    const Comparison comparison =
        compare(suite, options.pairs, limits,
                fmt::format("A against A {} of {}", i + 1, options.comparisons));
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
  }
  for (const double slowdown : options.slowdowns) {
    Detection sum{.slowdown = slowdown};
    Limits with = limits;
    with.detect = slowdown;
    const Source second = slowed(slowdown);
    const std::size_t count = (options.comparisons + 1) / 2;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string what = fmt::format("{:+.0f} % {} of {}", 100 * slowdown, i + 1, count);
      Detection first;
      const std::size_t needed =
          count_slowed(compare(second, options.pairs, with, what), concerns, first);
      if (needed == 0) {
        add_detection(sum, first, nullptr);
        continue;
      }
      Detection again;
      count_slowed(compare(second, std::min(needed, options.most_pairs), with, what + " again"),
                   concerns, again);
      add_detection(sum, first, &again);
    }
    findings.detections.push_back(sum);
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
    std::vector<double> detects = findings.detects;
    std::ranges::sort(detects);
    const auto at = [&](double share) {
      return 100 *
             detects[static_cast<std::size_t>(share * static_cast<double>(detects.size() - 1))];
    };
    lines.push_back(
        fmt::format("the smallest change that these runs show four times out of five: {:.1f} % for "
                    "half of the rows, {:.1f} % for nine of ten",
                    at(0.5), at(0.9)));
  }
  return lines;
}

}  // namespace howard::tracking
