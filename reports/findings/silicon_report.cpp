// SPDX-License-Identifier: Apache-2.0
#include "reports/findings/silicon_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "harness/statistics.h"
#include "reports/tables/columns.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

using profiler::ComparedCall;
using profiler::MeasuredRun;
using profiler::NotEmulated;
using profiler::SiliconComparison;
using Numbers = std::vector<std::optional<double>>;
using Counts = std::vector<std::optional<std::uint64_t>>;

SimTime measured_time(const ComparedCall& call) {
  SimTime time;
  for (const MeasuredRun& run : call.runs) time += run.kernel;
  return time;
}

/// The calls of one op, or all of them.
struct OpErrors {
  std::string code;
  std::uint64_t calls = 0;
  std::uint64_t runs = 0;
  SimTime measured, emulated;
  std::vector<double> errors, errors_with_skew;  ///< Of each run, without their signs.
  bool has_skew = false;

  void add(const ComparedCall& call) {
    ++calls;
    runs += call.runs.size();
    measured += measured_time(call);
    for (const MeasuredRun& run : call.runs) {
      emulated += call.emulated;
      errors.push_back(std::abs(error_of(call, run)));
      errors_with_skew.push_back(std::abs(error_with_skew(call, run)));
      has_skew = has_skew || run.start_skew > SimTime();
    }
  }
};

std::string signed_percent(double error) { return format_error(error) + " %"; }

Table ops_table(const SiliconComparison& comparison) {
  OpErrors all{.code = "all"};
  std::map<std::string, OpErrors> by_code;
  for (const ComparedCall& call : comparison.calls) {
    all.add(call);
    by_code.try_emplace(call.code, OpErrors{.code = call.code}).first->second.add(call);
  }
  std::vector<OpErrors> ops;
  for (auto& [code, op] : by_code) ops.push_back(std::move(op));
  std::ranges::stable_sort(ops, std::ranges::greater(), &OpErrors::measured);
  if (!ops.empty()) ops.push_back(std::move(all));

  std::vector<std::string> names, errors;
  Counts calls, runs;
  Numbers measured, emulated, medians, medians_with_skew;
  for (const OpErrors& op : ops) {
    names.push_back(op.code);
    calls.emplace_back(op.calls);
    runs.emplace_back(op.runs);
    measured.emplace_back(op.measured.seconds());
    emulated.emplace_back(op.emulated.seconds());
    errors.push_back(signed_percent((op.emulated - op.measured).seconds() / op.measured.seconds()));
    medians.push_back(harness::median(op.errors));
    medians_with_skew.push_back(op.has_skew ? harness::median(op.errors_with_skew) : std::nullopt);
  }
  Table table{.caption = "kernel time measured and emulated, by op"};
  add_words(table, "op", names);
  add_counts(table, "runs", runs);
  add_counts(table, "calls", calls);
  add_quantities(table, "measured", "s", measured);
  add_quantities(table, "emulated", "s", emulated);
  add_words(table, "error", errors);
  add_quantities(table, "median |error|", "1", medians);
  add_quantities(table, "with start skew", "1", medians_with_skew);
  return table;
}

/// What the reader must know of all the tables.
std::vector<std::string> notes_of(const SiliconComparison& comparison) {
  std::vector<std::string> notes;
  SimTime compared, left_out;
  std::uint64_t rows = 0;
  for (const ComparedCall& call : comparison.calls) compared += measured_time(call);
  for (const NotEmulated& one : comparison.not_emulated) {
    left_out += one.measured;
    rows += one.runs;
  }
  if (rows > 0) {
    notes.push_back(fmt::format(
        "not emulated: {}, {} of the measured kernel time (last table)", counted(rows, "program"),
        format_quantity(left_out.seconds() / (compared + left_out).seconds(), "1")));
  }
  if (comparison.host_ops > 0) {
    notes.push_back("left out " + counted(comparison.host_ops, "op") + " of the host");
  }
  notes.emplace_back(
      "with start skew: as if the emulated cores had started as far apart as the log's; the "
      "profiler counts from the first one's start");
  for (const auto& reason : comparison.dropped.reasons()) {
    notes.push_back("warning: left out " + describe(reason));
  }
  for (const std::string& note : comparison.notes) notes.push_back("warning: " + note);
  return notes;
}

std::optional<double> median_time(const ComparedCall& call) {
  std::vector<double> seconds;
  for (const MeasuredRun& run : call.runs) seconds.push_back(run.kernel.seconds());
  return harness::median(seconds);
}

Table calls_table(const SiliconComparison& comparison, std::size_t top) {
  std::vector<const ComparedCall*> calls;
  for (const ComparedCall& call : comparison.calls) calls.push_back(&call);
  std::ranges::stable_sort(calls, std::ranges::greater(),
                           [](const ComparedCall* call) { return measured_time(*call); });
  const std::size_t shown = std::min(top, calls.size());
  std::vector<std::string> names, inputs, fidelities, errors, skewed, cores, bounds;
  Counts runs;
  Numbers measured, emulated;
  for (std::size_t i = 0; i < shown; ++i) {
    const ComparedCall& call = *calls[i];
    std::vector<double> call_errors, call_skewed;
    for (const MeasuredRun& run : call.runs) {
      call_errors.push_back(error_of(call, run));
      call_skewed.push_back(error_with_skew(call, run));
    }
    names.push_back(call.call);
    inputs.push_back(call.inputs);
    fidelities.push_back(call.fidelity);
    runs.emplace_back(call.runs.size());
    measured.push_back(median_time(call));
    emulated.emplace_back(call.emulated.seconds());
    errors.push_back(signed_percent(harness::median(call_errors).value_or(0)));
    skewed.push_back(signed_percent(harness::median(call_skewed).value_or(0)));
    cores.push_back(call.measured_cores > 0
                        ? fmt::format("{} / {}", call.measured_cores, call.emulated_cores)
                        : fmt::format("- / {}", call.emulated_cores));
    bounds.emplace_back(call.bound_by);
  }
  Table table{.caption = "calls by measured kernel time, medians"};
  add_words(table, "call", names);
  add_words(table, TableColumn{.title = "inputs", .room = harness::Room::key}, inputs);
  add_counts(table, "runs", runs);
  add_quantities(table, "measured", "s", measured);
  add_quantities(table, "emulated", "s", emulated);
  add_words(table, "error", errors);
  add_words(table, "with start skew", skewed);
  add_words(table, "fidelity", fidelities);
  add_words(table, "cores", cores);
  add_words(table, "emulated bound by", bounds);
  if (shown < calls.size()) {
    table.notes.push_back(counted(calls.size() - shown, "more call"));
  }
  table.notes.emplace_back("cores: of the log / with work on the emulator");
  return table;
}

Table not_emulated_table(const SiliconComparison& comparison, std::size_t top) {
  std::vector<NotEmulated> sorted = comparison.not_emulated;
  std::ranges::stable_sort(sorted, std::ranges::greater(), &NotEmulated::measured);
  std::vector<std::string> names, reasons;
  Counts runs, lines;
  Numbers measured;
  const std::size_t shown = std::min(top, sorted.size());
  for (const NotEmulated& one : std::span(sorted).first(shown)) {
    names.push_back(one.code);
    runs.emplace_back(one.runs);
    measured.emplace_back(one.measured.seconds());
    lines.emplace_back(one.first_line);
    reasons.push_back(one.reason);
  }
  Table table{.caption = "not emulated"};
  add_words(table, "op", names);
  add_counts(table, "runs", runs);
  add_quantities(table, "measured", "s", measured);
  add_counts(table, "first line", lines);
  add_words(table, TableColumn{.title = "why", .room = harness::Room::key}, reasons);
  if (shown < sorted.size()) {
    table.notes.push_back(counted(sorted.size() - shown, "more reason"));
  }
  return table;
}

harness::PointResult point_of(const ComparedCall& call, const std::string& log) {
  harness::PointResult point{
      .backend = harness::Backend::emulated,
      .parameters = {{"log", log},
                     {"op", call.code},
                     {"call", call.call},
                     {"inputs", call.inputs},
                     {"output", call.output},
                     {"fidelity", call.fidelity},
                     {"grid", fmt::format("{}x{}", call.grid.columns, call.grid.rows)}}};
  const double median = median_time(call).value_or(0);
  harness::Metric measured{.name = "measured", .value = median, .unit = "s"};
  for (const MeasuredRun& run : call.runs) measured.samples.push_back(run.kernel.seconds());
  measured.ci95 = harness::median_interval95(measured.samples);
  point.metrics = {{.name = "emulated",
                    .value = call.emulated.seconds(),
                    .unit = "s",
                    .virtual_time = call.emulated},
                   std::move(measured)};
  point.details = {{"runs", fmt::to_string(call.runs.size())},
                   {"measured_cores", fmt::to_string(call.measured_cores)},
                   {"emulated_cores", fmt::to_string(call.emulated_cores)},
                   {"bound_by", std::string(call.bound_by)}};
  point.reference = harness::Reference{.metric = "emulated",
                                       .value = median,
                                       .unit = "s",
                                       .source = log,
                                       .status = "measured",
                                       .note = ""};
  return point;
}

}  // namespace

std::vector<Table> silicon_tables(const SiliconComparison& comparison, std::string_view title,
                                  std::size_t top) {
  std::vector<Table> tables{ops_table(comparison), calls_table(comparison, top),
                            not_emulated_table(comparison, top)};
  std::erase_if(tables, [](const Table& table) { return table.rows.empty(); });
  for (Table& table : tables) table.caption = fmt::format("{}: {}", title, table.caption);
  if (!tables.empty()) {
    std::ranges::move(notes_of(comparison), std::back_inserter(tables.front().notes));
  }
  return tables;
}

harness::ExperimentResult silicon_result(const SiliconComparison& comparison,
                                         const std::string& log,
                                         const harness::RunContext& context) {
  harness::ExperimentResult result{
      .experiment = "compare_emulated", .context = context, .points = {}};
  for (const ComparedCall& call : comparison.calls) result.points.push_back(point_of(call, log));
  for (const NotEmulated& one : comparison.not_emulated) {
    result.points.push_back(
        {.backend = harness::Backend::emulated,
         .parameters = {{"log", log},
                        {"op", one.code},
                        {"call", fmt::format("line {}", one.first_line)}},
         .skipped = fmt::format("{} ({})", one.reason, counted(one.runs, "run"))});
  }
  return result;
}

}  // namespace howard::reports
