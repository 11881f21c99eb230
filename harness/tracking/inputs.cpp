// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/inputs.h"

#include <fmt/format.h>

#include <set>
#include <string>

#include "base/error.h"
#include "base/json_node.h"
#include "base/text.h"
#include "harness/tracking/formats/foreign_formats.h"
#include "harness/tracking/formats/json_lines.h"
#include "harness/tracking/formats/language_formats.h"
#include "reports/formats/result_json.h"
#include "reports/formats/time_record.h"

namespace howard::tracking {
namespace {

constexpr std::string_view kAccepted =
    "results (howard.result/1), virtual times (howard.times/1), an export (howard.run/1), JSON of "
    "Google Benchmark, hyperfine, nvbench, pytest-benchmark or criterion, a JSON list of {name, "
    "value, unit}, the text of Go's benchmarks, an ops_perf_results CSV";

constexpr const char* kHint = "run_experiment track --help";

[[noreturn]] void fail_kind(std::string_view source, std::string value) {
  throw Error({.attempted = fmt::format("read {}", source),
               .value = std::move(value),
               .accepted = std::string(kAccepted),
               .hint = kHint});
}

/// Google Benchmark writes NaN and Infinity where JSON has no such number.
std::string without_nan(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  bool quoted = false;
  for (std::size_t i = 0; i < text.size();) {
    const auto is = [&](std::string_view word) { return text.substr(i, word.size()) == word; };
    if (text[i] == '"' && (i == 0 || text[i - 1] != '\\')) quoted = !quoted;
    std::size_t length = 0;
    for (const std::string_view word : {"NaN", "-NaN", "Infinity", "-Infinity"}) {
      if (!quoted && is(word)) length = word.size();
    }
    valid += length > 0 ? "null" : std::string(1, text[i]);
    i += length > 0 ? length : 1;
  }
  return valid;
}

/// Reads "chip wormhole_b0_n300, software tt_metal_2025_12, seed 1".
Conditions conditions_of_times(const std::string& line) {
  Conditions conditions{.tool = "howard"};
  const std::size_t software = line.find(", software ");
  const std::size_t seed = line.rfind(", seed ");
  if (!line.starts_with("chip ") || software == std::string::npos || seed == std::string::npos ||
      seed < software) {
    return conditions;
  }
  conditions.chip = line.substr(5, software - 5);
  conditions.software = line.substr(software + 11, seed - software - 11);
  conditions.seed = parse_natural(line.substr(seed + 7)).value_or(0);
  return conditions;
}

Run run_of_times(std::string_view text, std::string_view source) {
  const reports::TimeRecord record = reports::parse_times_text(text, source);
  Run run;
  run.conditions.tool = "howard";
  if (!record.conditions.empty()) run.conditions = conditions_of_times(record.conditions.front());
  run.constants = settings_of(run.conditions);
  for (const reports::ExactTime& exact : record.exact) {
    run.rows.push_back({.series = {exact.point, exact.metric, "s", {}, Kind::exact},
                        .value = exact.time.seconds(),
                        .picoseconds = exact.time.ps()});
  }
  return run;
}

std::vector<Run> runs_of_lines(std::string_view text, std::string_view source) {
  std::vector<Run> runs;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = trimmed(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    ++number;
    if (line.empty()) continue;
    runs.push_back(parse_run_line(line, fmt::format("{}, line {}", source, number)));
  }
  return runs;
}

Run run_of_other_json(std::string_view text, std::string_view source) {
  const JsonDocument document(without_nan(text), {.attempted = fmt::format("read {}", source),
                                                  .accepted = std::string(kAccepted),
                                                  .hint = kHint});
  const JsonNode root = document.root();
  const auto has_list = [&](const char* key) {
    return root.has(key) && root.member(key).is_array();
  };
  if (has_list("benchmarks")) {
    const std::vector<JsonNode> benchmarks = root.member("benchmarks").items();
    if (!benchmarks.empty() && benchmarks[0].has("states")) return read_nvbench(root);
    if (root.has("context")) return read_google_benchmark(root);
    if (root.has("machine_info")) return read_pytest_benchmark(root);
  }
  if (has_list("results")) return read_hyperfine(root);
  if (root.has("median") && root.member("median").has("point_estimate")) {
    return read_criterion_estimates(root, source);
  }
  if (root.is_array()) {
    const std::vector<JsonNode> items = root.items();
    if (!items.empty() && items[0].has("name") && items[0].has("value")) {
      return read_named_values(root);
    }
  }
  fail_kind(source, "it is JSON of another kind");
}

/// Checks that no benchmark is there twice, and that there is one at all.
void require_sound(const Run& run, std::string_view source) {
  std::set<std::pair<std::string, std::string>> known;
  for (const Row& row : run.rows) {
    if (known.emplace(row.series.benchmark, row.series.metric).second) continue;
    throw Error({.attempted = fmt::format("read {}", source),
                 .value = row.series.benchmark + " is there twice",
                 .accepted = "every benchmark once",
                 .hint = "one run for each file"});
  }
  if (run.rows.empty()) fail_kind(source, "it has no benchmark");
}

}  // namespace

std::vector<Run> parse_runs(std::string_view text, std::string_view source) {
  constexpr std::size_t kBeginning = 200;
  const std::string_view beginning = text.substr(0, kBeginning);
  const bool is_json = trimmed(beginning).starts_with('{') || trimmed(beginning).starts_with('[');
  const auto says = [&](std::string_view word) {
    return beginning.find(word) != std::string_view::npos;
  };
  std::vector<Run> runs;
  if (beginning.starts_with("howard.times/1\n")) {
    runs.push_back(run_of_times(text, source));
  } else if (is_json && says("\"howard.run/")) {
    runs = runs_of_lines(text, source);
  } else if (is_json && says("\"howard.result/")) {
    runs.push_back(run_of(reports::parse_result_json(text, source)));
  } else if (is_json && says("\"reason\":")) {
    runs.push_back(read_criterion_lines(text, source));
  } else if (is_json) {
    runs.push_back(run_of_other_json(text, source));
  } else if (text.substr(0, text.find('\n')).find("OP CODE") != std::string_view::npos) {
    runs.push_back(read_ops_csv_run(text, source));
  } else if (is_go_text(text)) {
    runs.push_back(read_go_text(text, source));
  } else {
    fail_kind(source, text.empty() ? "it is empty" : "it is of another kind");
  }
  for (const Run& run : runs) require_sound(run, source);
  return runs;
}

}  // namespace howard::tracking
