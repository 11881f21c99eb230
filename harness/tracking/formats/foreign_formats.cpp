// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/formats/foreign_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "harness/tracking/formats/direction.h"
#include "harness/tracking/formats/repetitions.h"
#include "profiler/formats/csv/byte_source.h"
#include "profiler/formats/ops_csv/ops_csv_reader.h"

namespace howard::tracking {
namespace {

double seconds_in(const JsonNode& unit) {
  return std::array{1e-9, 1e-6, 1e-3, 1.0}.at(unit.word({"ns", "us", "ms", "s"}));
}

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
/// as "unit=B;better=lower"; of others, the name tells.
Series counter_series(const std::string& benchmark, const std::string& name,
                      const JsonNode& context) {
  Series series{benchmark, name, "", better_direction(name, ""), Kind::sampled};
  if (name.ends_with("_per_second")) series.unit = name == "bytes_per_second" ? "B/s" : "1/s";
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

/// Returns whether no two of the names are the same.
bool are_different(const std::vector<std::string>& names) {
  return std::set<std::string>(names.begin(), names.end()).size() == names.size();
}

/// Names the rows of a file by their commands. If some have the same command, or the same name that
/// --command-name gave them, all have their parameters too; what is still the same is numbered.
std::vector<std::string> hyperfine_names(const std::vector<JsonNode>& results) {
  std::vector<std::string> names;
  for (const JsonNode& result : results) {
    const std::string command = result.member("command").text();
    names.push_back(command.empty() ? "command" : command);
  }
  if (are_different(names)) return names;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].has("parameters") || !results[i].member("parameters").is_object()) continue;
    for (const auto& [parameter, value] : results[i].member("parameters").members()) {
      names[i] += fmt::format("/{}:{}", parameter, value.is_text() ? value.text() : value.dump());
    }
  }
  std::map<std::string, std::size_t> counts;
  for (std::string& name : names) {
    if (const std::size_t place = ++counts[name]; place > 1) name += fmt::format(" #{}", place);
  }
  return names;
}

}  // namespace

Run read_google_benchmark(const JsonNode& file) {
  Run run;
  run.conditions.tool = "Google Benchmark";
  const JsonNode context = file.member("context");
  run.conditions.machine = google_machine(context);
  run.conditions.build = optional_text(context, "library_build_type");
  run.date = optional_text(context, "date");
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
  const std::vector<JsonNode> results = file.member("results").items();
  const std::vector<std::string> names = hyperfine_names(results);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const JsonNode& result = results[i];
    const std::string& command = names[i];
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
