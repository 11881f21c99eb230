// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/formats/machine_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "harness/statistics.h"
#include "harness/tracking/comparison/comparison_tables.h"
#include "reports/formats/step_summary.h"
#include "reports/tables/format.h"

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

/// Holds a test case of JUnit XML.
struct JunitCase {
  std::string classname, name;
  double seconds = 0;
  std::string_view element;  ///< "failure", "error" or "skipped"; empty if it passed.
  std::string_view type;
  std::string words;
};

struct JunitSuite {
  std::string name;
  std::vector<std::pair<std::string, std::string>> properties = {};
  std::vector<JunitCase> cases = {};
};

std::string case_text(const JunitCase& one) {
  std::string text = fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.12f}\"",
                                 xml_text(one.classname), xml_text(one.name), one.seconds);
  const std::string words = xml_text(one.words);
  if (one.element == "skipped") {
    return text + fmt::format(">\n      <skipped message=\"{}\"/>\n    </testcase>\n", words);
  }
  if (!one.element.empty()) {
    return text + fmt::format(">\n      <{} message=\"{}\" type=\"{}\"/>\n    </testcase>\n",
                              one.element, words, one.type);
  }
  return text + fmt::format(">\n      <system-out>{}</system-out>\n    </testcase>\n", words);
}

/// Returns the attributes with the counts of some cases.
std::string counts_text(std::span<const JunitSuite> suites, bool with_skipped) {
  std::map<std::string_view, std::size_t> counts;
  std::size_t all = 0;
  for (const JunitSuite& suite : suites) {
    all += suite.cases.size();
    for (const JunitCase& one : suite.cases) ++counts[one.element];
  }
  std::string text = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\"", all,
                                 counts["failure"], counts["error"]);
  if (with_skipped) text += fmt::format(" skipped=\"{}\"", counts["skipped"]);
  return text;
}

std::string junit_text(const std::vector<JunitSuite>& suites) {
  std::string text = fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {}>\n",
                                 counts_text(suites, false));
  for (const JunitSuite& suite : suites) {
    text += fmt::format("  <testsuite name=\"{}\" {}>\n", xml_text(suite.name),
                        counts_text({&suite, 1}, true));
    if (!suite.properties.empty()) text += "    <properties>\n";
    for (const auto& [name, value] : suite.properties) {
      text += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name, xml_text(value));
    }
    if (!suite.properties.empty()) text += "    </properties>\n";
    for (const JunitCase& one : suite.cases) text += case_text(one);
    text += "  </testsuite>\n";
  }
  return text + "</testsuites>\n";
}

/// Returns the experiment or program of a benchmark: what stands before its first "/".
std::string first_part(const std::string& benchmark) {
  return benchmark.substr(0, benchmark.find('/'));
}

void add_to_case(const Row& row, JunitCase& one) {
  if (row.series.kind == Kind::failed || row.series.kind == Kind::skipped) {
    one.element = row.series.kind == Kind::failed ? "error" : "skipped";
    one.type = name_of(row.series.kind);
    one.words = row.words;
  } else if (row.series.is_judged()) {
    if (row.series.metric == "time") one.seconds = row.value;
    one.words += fmt::format("{}{} {}", one.words.empty() ? "" : ", ", row.series.metric,
                             reports::format_quantity(row.value, row.series.unit));
  }
}

/// Returns the conditions that are known, by name.
std::vector<std::pair<std::string, std::string>> properties_of(const Run& run) {
  std::vector<std::pair<std::string, std::string>> properties{{"commit", run.commit},
                                                              {"tool", run.conditions.tool},
                                                              {"machine", run.conditions.machine},
                                                              {"chip", run.conditions.chip},
                                                              {"software", run.conditions.software},
                                                              {"build", run.conditions.build}};
  std::erase_if(properties, [](const auto& one) { return one.second.empty(); });
  return properties;
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
    case Verdict::ambiguous:  // one annotation is for all of them
    case Verdict::same:
      return "";
    default:
      return "notice";
  }
}

/// Says how many rows are ambiguous, and which of them has moved most.
std::string ambiguous_words(const Comparison& comparison, std::size_t count) {
  const JudgedRow* farthest = nullptr;
  for (const JudgedRow& row : comparison.rows) {
    if (row.verdict != Verdict::ambiguous) continue;
    if (farthest == nullptr || row.distance() > farthest->distance()) farthest = &row;
  }
  return fmt::format("{} of {}: too few or too noisy runs to say; the farthest is {}: {}", count,
                     reports::counted(comparison.rows.size(), "metric"), row_name(farthest->series),
                     row_words(*farthest));
}

/// Collects workflow commands, of each level as many as GitHub shows, and counts the others.
class Annotations {
 public:
  void add(std::string_view level, std::string_view title, std::string_view words) {
    if (level.empty() || ++counts_[level] > kMost) return;
    text_ += fmt::format("::{} title={}::{}\n", level, command_text(title, true),
                         command_text(words, false));
  }

  std::string text() const {
    std::string text = text_;
    for (const auto& [level, count] : counts_) {
      if (count <= kMost) continue;
      text += fmt::format("::{} title=performance::{} more like these are in the summary\n", level,
                          count - kMost);
    }
    return text;
  }

 private:
  static constexpr std::size_t kMost = 10;
  std::map<std::string_view, std::size_t> counts_;
  std::string text_;
};

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
  JunitSuite suite{.name = comparison.before + " against " + comparison.after};
  for (const JudgedRow& row : comparison.rows) {
    suite.cases.push_back({.classname = first_part(row.series.benchmark),
                           .name = row_name(row.series),
                           .seconds = row.series.unit == "s" ? row.after : 0,
                           .element = junit_element(row.verdict),
                           .type = name_of(row.verdict),
                           .words = row_words(row)});
  }
  return junit_text({suite});
}

std::string junit_xml(std::span<const Run> runs) {
  std::vector<JunitSuite> suites;
  for (const Run& run : runs) {
    std::map<std::string, JunitCase> cases;
    std::vector<std::string> order;
    for (const Row& row : run.rows) {
      const auto [found, is_new] = cases.try_emplace(row.series.benchmark);
      if (is_new) order.push_back(row.series.benchmark);
      add_to_case(row, found->second);
    }
    for (const std::string& benchmark : order) {
      const std::string suite = first_part(benchmark);
      auto found = std::ranges::find(suites, suite, &JunitSuite::name);
      if (found == suites.end()) {
        found = suites.insert(suites.end(), {.name = suite, .properties = properties_of(run)});
      }
      JunitCase& one = cases[benchmark];
      one.classname = suite;
      one.name = benchmark;
      found->cases.push_back(std::move(one));
    }
  }
  return junit_text(suites);
}

std::string github_summary(const Comparison& comparison) {
  const std::size_t bad = comparison.count(Verdict::slower) + comparison.count(Verdict::failed) +
                          comparison.count(Verdict::missing);
  reports::StepSummary summary{
      .headline = bad == 0 ? "no regression found" : reports::counted(bad, "regression") + " found",
      .sentences = comparison_lines(comparison),
      .tables = comparison_tables(comparison)};
  for (const std::string& warning : comparison.warnings) {
    summary.sentences.push_back("**" + warning + "**");
  }
  return reports::step_summary(std::move(summary));
}

std::string github_annotations(const Comparison& comparison) {
  Annotations annotations;
  for (const JudgedRow& row : comparison.rows) {
    annotations.add(annotation_level(row), "performance: " + std::string(name_of(row.verdict)),
                    row_name(row.series) + ": " + row_words(row));
  }
  if (const std::size_t count = comparison.count(Verdict::ambiguous); count > 0) {
    annotations.add("warning", "performance: ambiguous", ambiguous_words(comparison, count));
  }
  return annotations.text();
}

std::string github_annotations(std::span<const Run> runs) {
  Annotations annotations;
  for (const Run& run : runs) {
    for (const Row& row : run.rows) {
      if (row.series.kind != Kind::failed) continue;
      annotations.add("error", "performance: failed", row.series.benchmark + ": " + row.words);
    }
  }
  return annotations.text();
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
