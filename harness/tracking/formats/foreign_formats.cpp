// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/formats/foreign_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "harness/statistics.h"
#include "profiler/formats/csv/byte_source.h"
#include "profiler/formats/ops_csv/ops_csv_reader.h"

namespace howard::tracking {
namespace {

Row time_row(std::string benchmark, std::vector<double> samples) {
  Row row{.series = {std::move(benchmark), "time", "s", harness::Better::lower, Kind::sampled},
          .value = *harness::median(samples)};
  if (samples.size() > 1) row.samples = std::move(samples);
  return row;
}

Row failed_row(std::string benchmark, std::string reason) {
  return {.series = {std::move(benchmark), "", "", harness::Better::lower, Kind::failed},
          .words = std::move(reason)};
}

/// Returns the member's text, "" if there is none.
std::string optional_text(const JsonNode& node, const char* key) {
  return node.has(key) && node.member(key).is_text() ? node.member(key).text() : "";
}

double seconds_in(const JsonNode& unit) {
  return std::array{1e-9, 1e-6, 1e-3, 1.0}.at(unit.word({"ns", "us", "ms", "s"}));
}

/// Collects the repetitions of benchmarks, in the order of the file.
class Repetitions {
 public:
  void add(const std::string& benchmark, double seconds) {
    add(Series{benchmark, "time", "s", harness::Better::lower, Kind::sampled}, seconds);
  }
  void add(const Series& series, double value) {
    const auto [found, is_new] = values_.try_emplace(series);
    if (is_new) order_.push_back(series);
    found->second.push_back(value);
  }
  void fail(const std::string& benchmark, std::string reason) {
    if (!failures_.emplace(benchmark, std::move(reason)).second) return;
    order_.push_back(failed_row(benchmark, "").series);
  }
  bool is_empty() const { return order_.empty(); }

  /// Returns a row for each series; a benchmark that failed once has no others.
  std::vector<Row> rows() const {
    std::vector<Row> found;
    for (const Series& series : order_) {
      const auto failure = failures_.find(series.benchmark);
      if (series.kind == Kind::failed) {
        found.push_back(failed_row(series.benchmark, failure->second));
      } else if (failure == failures_.end()) {
        found.push_back(row_of(series, values_.at(series)));
      }
    }
    return found;
  }

 private:
  static Row row_of(const Series& series, const std::vector<double>& values) {
    Row row{.series = series, .value = *harness::median(values)};
    if (values.size() > 1) row.samples = values;
    return row;
  }

  std::vector<Series> order_;
  std::map<Series, std::vector<double>> values_;
  std::map<std::string, std::string> failures_;
};

std::string google_machine(const JsonNode& context) {
  std::string machine;
  if (context.has("num_cpus")) {
    machine = fmt::format("{} CPUs", context.member("num_cpus").integer());
  }
  if (!context.has("caches") || !context.member("caches").is_array()) return machine;
  for (const JsonNode& cache : context.member("caches").items()) {
    if (!cache.has("level") || !cache.has("size")) continue;
    machine += fmt::format(", L{} {} KiB", cache.member("level").integer(),
                           cache.member("size").integer() / 1024);
  }
  return machine;
}

/// Returns whether a member of a benchmark is one that every benchmark has, and no counter of its
/// own. "ctx_..." are conditions in tt-metal's files.
bool is_standard(std::string_view member) {
  constexpr std::array<std::string_view, 24> kStandard{"name",
                                                       "family_index",
                                                       "per_family_instance_index",
                                                       "run_name",
                                                       "run_type",
                                                       "repetitions",
                                                       "threads",
                                                       "aggregate_name",
                                                       "repetition_index",
                                                       "aggregate_unit",
                                                       "iterations",
                                                       "real_time",
                                                       "cpu_time",
                                                       "time_unit",
                                                       "error_occurred",
                                                       "error_message",
                                                       "skipped",
                                                       "skip_message",
                                                       "label",
                                                       "big_o",
                                                       "rms",
                                                       "cpu_coefficient",
                                                       "real_coefficient",
                                                       "complexity"};
  return member.starts_with("ctx_") || std::ranges::find(kStandard, member) != kStandard.end();
}

/// Returns the counter of that name. tt-metal's files say its unit and which direction is better,
/// as "unit=B;better=lower"; of others, rates are better if they are higher.
Series counter_series(const std::string& benchmark, const std::string& name,
                      const JsonNode& context) {
  Series series{benchmark, name, "", harness::Better::lower, Kind::sampled};
  if (name.ends_with("_per_second")) {
    series.unit = name == "bytes_per_second" ? "B/s" : "1/s";
    series.better = harness::Better::higher;
  }
  const std::string declared = optional_text(context, ("perf.metric." + name).c_str());
  for (const std::string& part : split(declared, ';')) {
    if (part.starts_with("unit=")) series.unit = part.substr(5);
    if (part == "better=higher") series.better = harness::Better::higher;
    if (part == "better=lower") series.better = harness::Better::lower;
  }
  // A name with a dot would be a part of another metric.
  std::ranges::replace(series.metric, '.', '_');
  return series;
}

/// Adds the time of a benchmark and its counters.
void add_google_row(const JsonNode& entry, const std::string& name, const JsonNode& context,
                    Repetitions& found) {
  found.add(name, entry.member("real_time").number() * seconds_in(entry.member("time_unit")));
  for (const auto& [member, value] : entry.members()) {
    if (is_standard(member) || !value.is_number()) continue;
    found.add(counter_series(name, member, context), value.number());
  }
}

/// Returns the value of a summary of nvbench, which writes numbers as texts in some versions.
std::optional<double> summary_value(const JsonNode& state, std::string_view tag) {
  if (!state.has("summaries") || !state.member("summaries").is_array()) return std::nullopt;
  for (const JsonNode& summary : state.member("summaries").items()) {
    if (summary.member("tag").text() != tag) continue;
    for (const JsonNode& datum : summary.member("data").items()) {
      if (datum.member("name").text() != "value") continue;
      const JsonNode value = datum.member("value");
      if (!value.is_text()) return value.number();
      if (const auto number = parse_number(value.text())) return number;
      value.fail("a number");
    }
  }
  return std::nullopt;
}

std::optional<double> nvbench_time(const JsonNode& state) {
  for (const std::string_view tag :
       {"nv/cold/time/gpu/mean", "nv/batch/time/gpu/mean", "nv/cpu_only/time/cpu/mean"}) {
    if (const auto seconds = summary_value(state, tag)) return seconds;
  }
  return std::nullopt;
}

/// Returns "1x1x32x1024" of cells such as "32[19]", whose logical size is in brackets.
std::string shape_of(const profiler::TensorCells& tensor) {
  std::string shape;
  for (const std::string_view cell : tensor.dimensions) {
    const std::size_t bracket = cell.find('[');
    const std::string_view size = bracket == std::string_view::npos
                                      ? cell
                                      : cell.substr(bracket + 1, cell.find(']') - bracket - 1);
    if (!shape.empty()) shape += 'x';
    shape += size;
  }
  return shape;
}

std::string call_name(const profiler::OpRow& row) {
  std::string name(row.name);
  for (const profiler::TensorCells& input : row.inputs) {
    name += fmt::format("/{}:{}", shape_of(input), input.datatype);
  }
  if (row.cores) name += fmt::format("/cores:{}", *row.cores);
  if (!row.fidelity.empty()) name += fmt::format("/fidelity:{}", row.fidelity);
  return name;
}

}  // namespace

Run read_google_benchmark(const JsonNode& file) {
  Run run;
  run.conditions.tool = "Google Benchmark";
  const JsonNode context = file.member("context");
  run.conditions.machine = google_machine(context);
  run.conditions.build = optional_text(context, "library_build_type");
  Repetitions found, aggregates;
  for (const JsonNode& entry : file.member("benchmarks").items()) {
    const std::string name =
        entry.has("run_name") ? entry.member("run_name").text() : entry.member("name").text();
    const bool failed = entry.has("error_occurred") && entry.member("error_occurred").boolean();
    const bool skipped = entry.has("skipped");
    if (failed || skipped) {
      const std::string reason = optional_text(entry, failed ? "error_message" : "skip_message");
      found.fail(name, reason.empty() ? "it says no reason" : reason);
    } else if (optional_text(entry, "run_type") != "aggregate") {
      add_google_row(entry, name, context, found);
    } else if (optional_text(entry, "aggregate_name") == "median") {
      add_google_row(entry, name, context, aggregates);
    }
  }
  // With --benchmark_report_aggregates_only there is nothing else.
  run.rows = found.is_empty() ? aggregates.rows() : found.rows();
  return run;
}

Run read_hyperfine(const JsonNode& file) {
  Run run;
  run.conditions.tool = "hyperfine";
  for (const JsonNode& result : file.member("results").items()) {
    const std::string command = result.member("command").text();
    std::vector<double> times;
    if (result.has("times") && result.member("times").is_array()) {
      times = result.member("times").numbers();
    }
    if (times.empty()) times.push_back(result.member("mean").number());
    std::int64_t worst = 0;
    if (result.has("exit_codes") && result.member("exit_codes").is_array()) {
      for (const JsonNode& code : result.member("exit_codes").items()) {
        if (!code.is_null() && code.integer() != 0) worst = code.integer();
      }
    }
    run.rows.push_back(worst == 0
                           ? time_row(command, std::move(times))
                           : failed_row(command, fmt::format("it ended with status {}", worst)));
  }
  return run;
}

Run read_nvbench(const JsonNode& file) {
  Run run;
  run.conditions.tool = "nvbench";
  if (file.has("devices") && file.member("devices").is_array()) {
    std::vector<std::string> names;
    for (const JsonNode& device : file.member("devices").items()) {
      names.push_back(optional_text(device, "name"));
    }
    run.conditions.machine = join(names, ", ");
  }
  for (const JsonNode& benchmark : file.member("benchmarks").items()) {
    const std::string name = benchmark.member("name").text();
    for (const JsonNode& state : benchmark.member("states").items()) {
      const std::string full = name + "/" + optional_text(state, "name");
      const std::optional<double> seconds = nvbench_time(state);
      if (state.has("is_skipped") && state.member("is_skipped").boolean()) {
        Row row = failed_row(full, optional_text(state, "skip_reason"));
        row.series.kind = Kind::skipped;
        run.rows.push_back(std::move(row));
      } else if (seconds) {
        run.rows.push_back(time_row(full, {*seconds}));
      } else {
        run.rows.push_back(failed_row(full, "it has no time"));
      }
    }
  }
  return run;
}

Run read_ops_csv_run(std::string_view text, std::string_view source) {
  Run run;
  run.conditions.tool = "tt-metal";
  Repetitions found;
  profiler::TextBytes bytes(text);
  profiler::DroppedRows dropped;
  const auto take = [&](const profiler::OpRow& row) {
    if (!row.kernel_time || row.type == "signpost") return;
    if (run.conditions.machine.empty()) run.conditions.machine = row.architecture;
    found.add(call_name(row), row.kernel_time->seconds());
  };
  const bool cut_off =
      profiler::for_each_op_row(bytes, source, profiler::Tensors::read, dropped, take);
  if (cut_off || found.is_empty()) {
    throw Error({.attempted = fmt::format("read {}", source),
                 .value = cut_off ? "it ends within a row" : "no row has a kernel's time",
                 .accepted = "an ops_perf_results CSV of tt-metal",
                 .hint = "the file again from the profiler"});
  }
  run.rows = found.rows();
  return run;
}

}  // namespace howard::tracking
