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
#include <set>
#include <span>
#include <utility>

#include "harness/statistics.h"
#include "reports/tables/format.h"
#include "reports/tables/row_columns.h"

namespace howard::reports {
namespace {

using profiler::ComparedCall;
using profiler::MeasuredRun;
using profiler::NotEmulated;
using profiler::SiliconComparison;

SimTime measured_time(const ComparedCall& call) {
  SimTime time;
  for (const MeasuredRun& run : call.runs) time += run.kernel;
  return time;
}

/// Holds the calls of one op, or all of them.
struct OpErrors {
  std::string code;
  std::uint64_t calls = 0;
  std::uint64_t runs = 0;
  SimTime measured, emulated;
  SimTime compared;  ///< The measured time of the runs whose error means something.
  SimTime error;     ///< What the emulator takes longer for these, or less.
  std::vector<double> errors, errors_with_skew;  ///< One for each of them, without its sign.
  bool has_skew = false;
  std::set<std::string_view> known;  ///< What its emulated times rest on.

  void add(const ComparedCall& call) {
    ++calls;
    known.insert(call.known);
    runs += call.runs.size();
    measured += measured_time(call);
    for (const MeasuredRun& run : call.runs) {
      emulated += call.emulated;
      if (call.by_its_time) continue;
      compared += run.kernel;
      error += call.emulated - run.kernel;
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

  Table table{.caption = "kernel time measured and emulated, by op"};
  const RowColumns columns(table, ops);
  columns.words("op", &OpErrors::code);
  columns.counts("runs", &OpErrors::runs);
  columns.counts("calls", &OpErrors::calls);
  columns.quantities("measured", "s", &OpErrors::measured);
  columns.quantities("emulated", "s", &OpErrors::emulated);
  columns.words("error", [](const OpErrors& op) {
    if (op.errors.empty()) return std::string("-");
    return signed_percent(op.error.seconds() / op.compared.seconds());
  });
  columns.quantities("median |error|", "1",
                     [](const OpErrors& op) { return harness::median(op.errors); });
  columns.quantities("with start skew", "1", [](const OpErrors& op) {
    return op.has_skew ? harness::median(op.errors_with_skew) : std::nullopt;
  });
  columns.words("rests on",
                [](const OpErrors& op) { return fmt::format("{}", fmt::join(op.known, ", ")); });
  return table;
}

/// Returns what the reader must know about all the tables.
std::vector<std::string> notes_of(const SiliconComparison& comparison) {
  std::vector<std::string> notes;
  SimTime compared, left_out, by_their_times;
  std::uint64_t rows = 0;
  for (const ComparedCall& call : comparison.calls) {
    compared += measured_time(call);
    if (call.by_its_time) by_their_times += measured_time(call);
  }
  for (const NotEmulated& one : comparison.not_emulated) {
    left_out += one.measured;
    rows += one.runs;
  }
  if (rows > 0) {
    notes.push_back(fmt::format(
        "not emulated: {}, {} of the measured kernel time (last table)", counted(rows, "program"),
        format_quantity(left_out.seconds() / (compared + left_out).seconds(), "1")));
  }
  if (by_their_times > SimTime()) {
    notes.push_back(fmt::format(
        "by its time: decode attention whose position is a tensor, {} of the measured kernel "
        "time. It is emulated for as many places as its time tells, so that its error means "
        "nothing and counts nowhere",
        format_quantity(by_their_times.seconds() / (compared + left_out).seconds(), "1")));
  }
  if (comparison.host_ops > 0) {
    notes.push_back("left out " + counted(comparison.host_ops, "op") + " of the host");
  }
  notes.emplace_back(
      "with start skew: as if the emulated cores had started as far apart as the log's; the "
      "profiler counts from the first one's start");
  if (!comparison.calls.empty()) notes.emplace_back(kRestsOn);
  for (const auto& reason : comparison.dropped.reasons()) {
    notes.push_back("warning: left out " + describe(reason));
  }
  for (const std::string& note : comparison.notes) notes.push_back("warning: " + note);
  return notes;
}

/// Returns the median of what `of_run` says of a call's runs.
template <class OfRun>
std::optional<double> median_of(const ComparedCall& call, const OfRun& of_run) {
  return harness::median(each(call.runs, of_run));
}

std::optional<double> median_time(const ComparedCall& call) {
  return median_of(call, [](const MeasuredRun& run) { return run.kernel.seconds(); });
}

Table calls_table(const SiliconComparison& comparison, std::size_t top) {
  std::vector<const ComparedCall*> calls;
  for (const ComparedCall& call : comparison.calls) calls.push_back(&call);
  std::ranges::stable_sort(calls, std::ranges::greater(),
                           [](const ComparedCall* call) { return measured_time(*call); });
  const std::size_t shown = std::min(top, calls.size());
  const auto median_error = [](double (*error)(const ComparedCall&, const MeasuredRun&)) {
    return [=](const ComparedCall* call) {
      if (call->by_its_time) return std::string("by its time");
      const auto of_run = [&](const MeasuredRun& run) { return error(*call, run); };
      return signed_percent(median_of(*call, of_run).value_or(0));
    };
  };
  Table table{.caption = "calls by measured kernel time, medians"};
  const auto first = std::span(calls).first(shown);
  const RowColumns columns(table, first);
  columns.words("call", &ComparedCall::call);
  columns.keys("inputs", &ComparedCall::inputs);
  columns.counts("runs", [](const ComparedCall* call) { return call->runs.size(); });
  columns.quantities("measured", "s", [](const ComparedCall* call) { return median_time(*call); });
  columns.quantities("emulated", "s", &ComparedCall::emulated);
  columns.words("error", median_error(profiler::error_of));
  columns.words("with start skew", median_error(profiler::error_with_skew));
  columns.words("fidelity", &ComparedCall::fidelity);
  columns.words("cores", [](const ComparedCall* call) {
    const std::string of_log =
        call->measured_cores > 0 ? fmt::to_string(call->measured_cores) : "-";
    return fmt::format("{} / {}", of_log, call->emulated_cores);
  });
  columns.words("rests on", &ComparedCall::known);
  columns.words("emulated bound by", &ComparedCall::bound_by);
  if (shown < calls.size()) {
    table.notes.push_back(counted(calls.size() - shown, "more call"));
  }
  table.notes.emplace_back("cores: of the log / with work on the emulator");
  return table;
}

Table not_emulated_table(const SiliconComparison& comparison, std::size_t top) {
  std::vector<NotEmulated> sorted = comparison.not_emulated;
  std::ranges::stable_sort(sorted, std::ranges::greater(), &NotEmulated::measured);
  const std::size_t shown = std::min(top, sorted.size());
  Table table{.caption = "not emulated"};
  const auto first = std::span(sorted).first(shown);
  const RowColumns columns(table, first);
  columns.words("op", &NotEmulated::code);
  columns.counts("runs", &NotEmulated::runs);
  columns.quantities("measured", "s", &NotEmulated::measured);
  columns.counts("first line", &NotEmulated::first_line);
  columns.keys("why", &NotEmulated::reason);
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
                   {"emulated_cores", fmt::to_string(call.emulated_cores)}};
  point.add(harness::kBoundBy, std::string(call.bound_by));
  point.add(harness::ExpectedError{.share = call.expected_error, .known = std::string(call.known)});
  if (call.by_its_time) {
    point.details.emplace_back("position", "by its time");
    return point;
  }
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
  harness::ExperimentResult result{.experiment = name_of(harness::CommandResult::compare_emulated),
                                   .context = context,
                                   .points = {}};
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
