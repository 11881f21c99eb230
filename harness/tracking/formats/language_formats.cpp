// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/formats/language_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "harness/tracking/formats/direction.h"
#include "harness/tracking/formats/repetitions.h"

namespace howard::tracking {
namespace {

namespace fs = std::filesystem;

constexpr double kNanosecond = 1e-9;

Run run_of_tool(std::string tool) {
  Run run;
  run.conditions.tool = std::move(tool);
  return run;
}

/// Adds a value in its unit: a time in seconds, or another metric of that name.
void add_value(Repetitions& found, const std::string& benchmark, std::string metric,
               const std::string& unit, std::string_view name, double value) {
  if (const auto seconds = seconds_of_unit(unit)) {
    found.add(benchmark, value * *seconds);
    return;
  }
  // A name with a dot would be a part of another metric.
  std::ranges::replace(metric, '.', '_');
  found.add(Series{benchmark, std::move(metric), unit, better_direction(name, unit), Kind::sampled},
            value);
}

/// Returns the seconds of one iteration in each sample of criterion.
std::vector<double> criterion_samples(const JsonNode& iterations, const JsonNode& times) {
  const std::vector<double> counts = iterations.numbers();
  std::vector<double> samples = times.numbers();
  if (samples.empty() || counts.size() != samples.size()) {
    times.fail("as many times as numbers of iterations, and one at least");
  }
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (counts[i] <= 0) iterations.fail("positive numbers of iterations");
    samples[i] *= kNanosecond / counts[i];
  }
  return samples;
}

/// Returns the median of an estimates.json.
std::vector<double> criterion_median(const JsonNode& file) {
  return {file.member("median").member("point_estimate").number() * kNanosecond};
}

JsonDocument json_in(const fs::path& file) {
  return JsonDocument(read_file(file), {.attempted = "read " + file.string(),
                                        .accepted = "JSON that criterion has written",
                                        .hint = "cargo bench"});
}

/// Returns the folders called "new" with a measurement in them, in the order of their names.
std::vector<fs::path> criterion_measurements(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder, ignored)) {
    const fs::path& path = entry.path();
    if (path.filename() == "estimates.json" && path.parent_path().filename() == "new") {
      found.push_back(path.parent_path());
    }
  }
  std::ranges::sort(found);
  return found;
}

std::string criterion_name(const fs::path& measurement, const fs::path& folder) {
  if (const fs::path names = measurement / "benchmark.json"; fs::exists(names)) {
    const JsonDocument document = json_in(names);
    if (std::string name = optional_text(document.root(), "full_id"); !name.empty()) return name;
  }
  return fs::relative(measurement.parent_path(), folder).generic_string();
}

std::string pytest_machine(const JsonNode& file) {
  if (!file.has("machine_info") || !file.member("machine_info").has("cpu")) return "";
  const JsonNode cpu = file.member("machine_info").member("cpu");
  std::string machine = optional_text(cpu, "brand_raw");
  if (cpu.has("count") && cpu.member("count").is_number()) {
    machine += fmt::format("{}{} CPUs", machine.empty() ? "" : ", ", cpu.member("count").integer());
  }
  return machine;
}

std::vector<std::string> fields_of(std::string_view line) {
  std::istringstream stream{std::string(line)};
  std::vector<std::string> fields;
  for (std::string field; stream >> field;) fields.push_back(std::move(field));
  return fields;
}

/// Returns whether a line is "BenchmarkName-8  1000  1234 ns/op ...".
bool is_go_result(const std::vector<std::string>& fields) {
  return fields.size() >= 4 && fields.size() % 2 == 0 && fields[0].starts_with("Benchmark") &&
         parse_natural(fields[1]) && parse_number(fields[2]);
}

template <class Take>
void for_each_line(std::string_view text, Take take) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    take(trimmed(text.substr(0, end)));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
}

}  // namespace

Run read_pytest_benchmark(const JsonNode& file) {
  Run run = run_of_tool("pytest-benchmark");
  run.conditions.machine = pytest_machine(file);
  run.date = optional_text(file, "datetime");
  if (file.has("commit_info") && file.member("commit_info").is_object()) {
    const JsonNode commit = file.member("commit_info");
    run.commit = optional_text(commit, "id");
    const bool dirty =
        commit.has("dirty") && commit.member("dirty").is_flag() && commit.member("dirty").boolean();
    if (!run.commit.empty() && dirty) run.commit += "-dirty";
  }
  for (const JsonNode& benchmark : file.member("benchmarks").items()) {
    const std::string full = optional_text(benchmark, "fullname");
    const JsonNode stats = benchmark.member("stats");
    std::vector<double> samples;
    if (stats.has("data") && stats.member("data").is_array()) {
      samples = stats.member("data").numbers();
    }
    if (samples.empty()) samples.push_back(stats.member("median").number());
    run.rows.push_back(
        time_row(full.empty() ? benchmark.member("name").text() : full, std::move(samples)));
  }
  return run;
}

Run read_named_values(const JsonNode& list) {
  Run run = run_of_tool("github-action-benchmark");
  Repetitions found;
  for (const JsonNode& entry : list.items()) {
    const std::string name = entry.member("name").filled_text();
    const JsonNode value = entry.member("value");
    std::optional<double> number;
    if (value.is_text()) number = parse_number(value.text());
    if (value.is_number()) number = value.number();
    if (!number) value.fail("a number");
    add_value(found, name, "value", optional_text(entry, "unit"), name, *number);
  }
  run.rows = found.rows();
  return run;
}

Run read_criterion_lines(std::string_view text, std::string_view source) {
  Run run = run_of_tool("criterion");
  std::size_t number = 0;
  for_each_line(text, [&](std::string_view line) {
    ++number;
    if (line.empty()) return;
    const JsonDocument document(line, {.attempted = fmt::format("read {}, line {}", source, number),
                                       .accepted = "a message of cargo criterion",
                                       .hint = "cargo criterion --message-format=json"});
    const JsonNode message = document.root();
    if (optional_text(message, "reason") != "benchmark-complete") return;
    run.rows.push_back(time_row(
        message.member("id").filled_text(),
        criterion_samples(message.member("iteration_count"), message.member("measured_values"))));
  });
  return run;
}

Run read_criterion_estimates(const JsonNode& file, std::string_view source) {
  Run run = run_of_tool("criterion");
  const fs::path measurement = fs::path(source).parent_path();
  std::string name = measurement.parent_path().filename().string();
  run.rows.push_back(
      time_row(name.empty() ? "benchmark" : std::move(name), criterion_median(file)));
  return run;
}

bool is_criterion_folder(const fs::path& folder) { return !criterion_measurements(folder).empty(); }

Run read_criterion_folder(const fs::path& folder) {
  Run run = run_of_tool("criterion");
  for (const fs::path& measurement : criterion_measurements(folder)) {
    std::string name = criterion_name(measurement, folder);
    if (const fs::path samples = measurement / "sample.json"; fs::exists(samples)) {
      const JsonDocument document = json_in(samples);
      const JsonNode root = document.root();
      run.rows.push_back(
          time_row(std::move(name), criterion_samples(root.member("iters"), root.member("times"))));
      continue;
    }
    const JsonDocument document = json_in(measurement / "estimates.json");
    run.rows.push_back(time_row(std::move(name), criterion_median(document.root())));
  }
  return run;
}

bool is_go_text(std::string_view text) {
  bool found = false;
  for_each_line(text, [&](std::string_view line) {
    if (line.starts_with("Benchmark")) found = found || is_go_result(fields_of(line));
  });
  return found;
}

Run read_go_text(std::string_view text, std::string_view source) {
  Run run = run_of_tool("Go");
  Repetitions found;
  std::string package;
  for_each_line(text, [&](std::string_view line) {
    const std::vector<std::string> fields = fields_of(line);
    if (line.starts_with("pkg: ")) package = fields.back() + "/";
    if (line.starts_with("cpu: ")) run.conditions.machine = line.substr(5);
    if (line.starts_with("--- FAIL: ")) found.fail(package + fields[2], "it failed");
    if (!is_go_result(fields)) return;
    for (std::size_t i = 2; i + 1 < fields.size(); i += 2) {
      const auto value = parse_number(fields[i]);
      if (!value) {
        throw Error({.attempted = fmt::format("read {}", source),
                     .value = fmt::format("'{}' of {}", fields[i], fields[0]),
                     .accepted = "a number before each unit",
                     .hint = "go test -bench ."});
      }
      add_value(found, package + fields[0], fields[i + 1], fields[i + 1], fields[i + 1], *value);
    }
  });
  run.rows = found.rows();
  return run;
}

}  // namespace howard::tracking
