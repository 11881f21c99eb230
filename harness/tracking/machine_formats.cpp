// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/machine_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "harness/statistics.h"
#include "harness/tracking/comparison_tables.h"
#include "reports/tables/format.h"
#include "reports/tables/markdown.h"

namespace howard::tracking {
namespace {

using nlohmann::ordered_json;

constexpr double kNanoseconds = 1e9;

/// Returns the rows that are metrics, each with its run.
std::vector<const Row*> metric_rows(std::span<const Run> runs) {
  std::vector<const Row*> rows;
  for (const Run& run : runs) {
    for (const Row& row : run.rows) {
      if (row.series.is_judged()) rows.push_back(&row);
    }
  }
  return rows;
}

double shown(const Row& row, double value) {
  return row.series.unit == "s" ? value * kNanoseconds : value;
}

std::string json_text(const ordered_json& value) {
  return value.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

/// Returns `text` as UTF-8 without the control characters that XML forbids.
std::string xml_text(std::string_view text) {
  // The JSON library replaces what is no UTF-8.
  const ordered_json valid = ordered_json::parse(
      ordered_json(text).dump(-1, ' ', false, ordered_json::error_handler_t::replace));
  std::string escaped;
  for (const char letter : valid.get<std::string>()) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == '&') {
      escaped += "&amp;";
    } else if (letter == '<') {
      escaped += "&lt;";
    } else if (letter == '>') {
      escaped += "&gt;";
    } else if (letter == '"') {
      escaped += "&quot;";
    } else if (letter == '\n' || letter == '\t') {
      escaped += code == '\n' ? "&#10;" : "&#9;";
    } else {
      escaped += code < 0x20 || code == 0x7f ? '?' : letter;
    }
  }
  return escaped;
}

/// Returns "failure", "error" or "skipped"; empty for a test that passed.
std::string_view junit_element(Verdict verdict) {
  switch (verdict) {
    case Verdict::slower:
    case Verdict::missing:
    case Verdict::added:
      return "failure";
    case Verdict::failed:
      return "error";
    case Verdict::ambiguous:
      return "skipped";
    default:
      return "";
  }
}

/// Returns the message of a workflow command; GitHub reads %, CR and LF in it.
std::string command_text(std::string_view text, bool property) {
  std::string escaped;
  for (const char letter : text) {
    if (letter == '%') {
      escaped += "%25";
    } else if (letter == '\r') {
      escaped += "%0D";
    } else if (letter == '\n') {
      escaped += "%0A";
    } else if (property && letter == ':') {
      escaped += "%3A";
    } else if (property && letter == ',') {
      escaped += "%2C";
    } else {
      escaped += letter;
    }
  }
  return escaped;
}

std::string_view annotation_level(const JudgedRow& row) {
  switch (row.verdict) {
    case Verdict::slower:
    case Verdict::failed:
    case Verdict::missing:
      return "error";
    case Verdict::ambiguous:
      return "warning";
    case Verdict::same:
      return "";
    default:
      return "notice";
  }
}

/// Returns a name that OpenMetrics accepts.
std::string metric_name(const Series& series) {
  std::string name = "benchmark_";
  for (const char letter : series.metric) {
    const bool fits = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                      (letter >= '0' && letter <= '9') || letter == '_';
    name += fits ? letter : '_';
  }
  return name + (series.unit == "s" ? "_seconds" : "");
}

std::string label_text(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    if (letter == '\\' || letter == '"') escaped += '\\';
    escaped += letter == '\n' ? "\\n" : std::string(1, letter);
  }
  return escaped;
}

}  // namespace

std::string junit_xml(const Comparison& comparison) {
  std::map<std::string_view, std::size_t> counts;
  std::string cases;
  for (const JudgedRow& row : comparison.rows) {
    const std::string_view element = junit_element(row.verdict);
    ++counts[element];
    const std::size_t slash = row.series.benchmark.find('/');
    const double seconds = row.series.unit == "s" ? row.after : 0;
    cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.12f}\"",
                         xml_text(row.series.benchmark.substr(0, slash)),
                         xml_text(row_name(row.series)), seconds);
    const std::string words = xml_text(row_words(row));
    if (element == "skipped") {
      cases += fmt::format(">\n      <skipped message=\"{}\"/>\n    </testcase>\n", words);
    } else if (!element.empty()) {
      cases += fmt::format(">\n      <{} message=\"{}\" type=\"{}\"/>\n    </testcase>\n", element,
                           words, name_of(row.verdict));
    } else {
      cases += fmt::format(">\n      <system-out>{}</system-out>\n    </testcase>\n", words);
    }
  }
  const std::string numbers =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\"", comparison.rows.size(),
                  counts["failure"], counts["error"]);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {}>\n"
      "  <testsuite name=\"{}\" {} skipped=\"{}\">\n{}  </testsuite>\n</testsuites>\n",
      numbers, xml_text(comparison.before + " against " + comparison.after), numbers,
      counts["skipped"], cases);
}

std::string github_summary(const Comparison& comparison) {
  constexpr std::size_t kMostRows = 200;
  const std::size_t bad = comparison.count(Verdict::slower) + comparison.count(Verdict::failed) +
                          comparison.count(Verdict::missing);
  std::string text = fmt::format(
      "### Performance: {}\n\n",
      bad == 0 ? "no regression found" : reports::counted(bad, "regression") + " found");
  for (const std::string& line : comparison_lines(comparison)) text += "- " + line + "\n";
  for (const std::string& warning : comparison.warnings) text += "- **" + warning + "**\n";
  text += '\n';
  for (reports::Table table : comparison_tables(comparison)) {
    if (table.rows.size() > kMostRows) {
      table.notes.push_back(
          fmt::format("{} more rows are not shown", table.rows.size() - kMostRows));
      table.rows.resize(kMostRows);
    }
    text += reports::markdown_table(table) + "\n";
  }
  return text;
}

std::string github_annotations(const Comparison& comparison) {
  constexpr std::size_t kMost = 10;
  std::map<std::string_view, std::size_t> counts;
  std::string text;
  for (const JudgedRow& row : comparison.rows) {
    const std::string_view level = annotation_level(row);
    if (level.empty() || ++counts[level] > kMost) continue;
    text += fmt::format("::{} title={}::{}\n", level,
                        command_text("performance: " + std::string(name_of(row.verdict)), true),
                        command_text(row_name(row.series) + ": " + row_words(row), false));
  }
  for (const auto& [level, count] : counts) {
    if (count <= kMost) continue;
    text += fmt::format("::{} title=performance::{} more like these are in the summary\n", level,
                        count - kMost);
  }
  return text;
}

std::string action_benchmark_json(std::span<const Run> runs, harness::Better better) {
  ordered_json list = ordered_json::array();
  for (const Row* const row : metric_rows(runs)) {
    if (row->series.better != better) continue;
    ordered_json entry{{"name", row_name(row->series)},
                       {"unit", row->series.unit == "s" ? "ns" : row->series.unit},
                       {"value", shown(*row, row->value)}};
    if (const auto interval = harness::median_interval95(row->samples)) {
      entry["range"] =
          fmt::format("± {:.6g}", shown(*row, (interval->back() - interval->front()) / 2));
    }
    entry["extra"] = std::string(name_of(row->series.kind));
    list.push_back(std::move(entry));
  }
  return json_text(list);
}

std::string bencher_json(std::span<const Run> runs) {
  ordered_json benchmarks = ordered_json::object();
  for (const Row* const row : metric_rows(runs)) {
    ordered_json measure{{"value", shown(*row, row->value)}};
    if (const auto interval = harness::median_interval95(row->samples)) {
      measure["lower_value"] = shown(*row, interval->front());
      measure["upper_value"] = shown(*row, interval->back());
    }
    const std::string name = row->series.metric == "time" ? "latency" : row->series.metric;
    benchmarks[row->series.benchmark][name] = std::move(measure);
  }
  return json_text(benchmarks);
}

std::string openmetrics_text(std::span<const Run> runs) {
  // All samples of a metric stand together, below its type.
  std::vector<std::string> order;
  std::map<std::string, std::string> families;
  for (const Row* const row : metric_rows(runs)) {
    const std::string name = metric_name(row->series);
    if (!families.contains(name)) {
      order.push_back(name);
      families[name] = fmt::format("# TYPE {} gauge\n", name);
      if (row->series.unit == "s") families[name] += fmt::format("# UNIT {} seconds\n", name);
    }
    families[name] += fmt::format("{}{{benchmark=\"{}\",kind=\"{}\"}} {}\n", name,
                                  label_text(row->series.benchmark), name_of(row->series.kind),
                                  reports::format_exact(row->value));
  }
  std::string text;
  for (const std::string& name : order) text += families[name];
  return text + "# EOF\n";
}

}  // namespace howard::tracking
