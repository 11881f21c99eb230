// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/json_dump.h"
#include "harness/paired_test.h"

namespace howard::tracking {
namespace {

using nlohmann::ordered_json;

void add_comparison(const Comparison& comparison, GateFindings& findings) {
  ++findings.comparisons;
  bool alarm = false;
  for (const JudgedRow& row : comparison.rows) {
    if (row.series.kind != Kind::sampled) continue;
    const bool changed = row.verdict == Verdict::slower || row.verdict == Verdict::faster;
    ++findings.rows;
    findings.row_alarms += changed ? 1U : 0U;
    findings.ambiguous += row.verdict == Verdict::ambiguous ? 1U : 0U;
    alarm = alarm || changed;
    if (row.detects) findings.detects.push_back(*row.detects);
  }
  findings.alarms += alarm ? 1U : 0U;
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

void test_gate(const Source& suite, const Limits& limits, const GateOptions& options,
               GateFindings& findings) {
  for (std::size_t i = 0; i < options.comparisons; ++i) {
    const auto progress = [&](const std::string& text) {
      if (!options.progress) return;
      options.progress(fmt::format("{} of {}, {}", i + 1, options.comparisons, text));
    };
    add_comparison(
        compare_pairs("A", suite, "A", suite, limits,
                      {.pairs = options.pairs, .seed = options.seed + i, .progress = progress}),
        findings);
    if (findings.rows > 0) continue;
    throw Error({.attempted = "test the gate",
                 .value = "no row of the suite is sampled",
                 .accepted = "a command that prints measured times"});
  }
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
                      const GateOptions& options) {
  ordered_json file{{"schema", "howard.gate/2"},
                    {"pairs", options.pairs},
                    {"alpha", limits.alpha},
                    {"relative_floor", limits.relative_floor}};
  file["suites_with_an_alarm"] = share_value(findings.alarms, findings.comparisons);
  file["rows_with_an_alarm"] = share_value(findings.row_alarms, findings.rows);
  file["ambiguous_rows"] = share_value(findings.ambiguous, findings.rows);
  if (const auto half = detected_by(findings, 0.5)) {
    file["smallest_change"] = {{"half_of_the_rows", *half},
                               {"nine_of_ten", *detected_by(findings, 0.9)}};
  }
  return json_dump(file, 2) + "\n";
}

}  // namespace howard::tracking
