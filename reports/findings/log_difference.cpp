// SPDX-License-Identifier: Apache-2.0
#include "reports/findings/log_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "profiler/dispatch_gaps.h"
#include "profiler/silicon/call_facts.h"
#include "reports/tables/format.h"
#include "reports/tables/row_columns.h"

namespace howard::reports {
namespace {

/// Says what makes two programs the same: op, operands, fidelity and attributes, but not the number
/// of cores, which may be what changed.
using CallKey = std::tuple<std::string, std::string, std::string, std::string>;

CallKey key_of(const profiler::Log& log, const profiler::LoggedRun& run,
               const profiler::ProgramRun& program) {
  if (program.call == 0) {
    return {std::string(run.timeline.names.name(program.name)), "", "", ""};
  }
  const profiler::OpRow& call = log.calls.row(program.call);
  return {std::string(call.name), profiler::facts_of(call).operands, std::string(call.fidelity),
          std::string(call.attributes)};
}

struct Totals {
  std::uint64_t programs = 0;
  SimTime kernels, idle, span;
};

/// Adds what a log spent on each thing by `take`.
template <class Take>
Totals for_each_thing(const profiler::Log& log, const Take& take) {
  Totals totals;
  std::map<std::uint32_t, CallKey> keys;  // the keys of calls
  for (const profiler::LoggedRun& run : log.runs) {
    for (const profiler::ProgramRun& program : run.timeline.programs) {
      ++totals.programs;
      totals.kernels += program.kernel.duration();
      if (program.call == 0) {
        take(key_of(log, run, program), program.kernel.duration());
        continue;
      }
      const auto [found, is_new] = keys.try_emplace(program.call);
      if (is_new) found->second = key_of(log, run, program);
      take(found->second, program.kernel.duration());
    }
    for (const auto& lane : profiler::find_gaps(run.timeline, profiler::LaneKind::device)) {
      totals.idle += lane.idle;
      totals.span += lane.span.duration();
    }
  }
  return totals;
}

std::string verdict(const LogChange& change) {
  if (change.runs_before == 0) return "new";
  if (change.runs_after == 0) return "gone";
  if (change.change() == SimTime()) return "same";
  return change.change() > SimTime() ? "slower" : "faster";
}

std::string signed_share(SimTime change, SimTime before) {
  if (before == SimTime()) return "";
  return fmt::format("{:+.1f} %", 100 * change.seconds() / before.seconds());
}

Table totals_table(const LogDifference& difference) {
  Table table{.caption = "before and after"};
  add_words(table, "what", {"kernels", "idle", "first start to last end"});
  const auto add = [&](std::string title, SimTime kernels, SimTime idle, SimTime span) {
    add_quantities(table, std::move(title), "s",
                   {kernels.seconds(), idle.seconds(), span.seconds()});
  };
  const LogDifference& d = difference;
  add("before", d.kernels_before, d.idle_before, d.span_before);
  add("after", d.kernels_after, d.idle_after, d.span_after);
  add("change", d.kernels_after - d.kernels_before, d.idle_after - d.idle_before,
      d.span_after - d.span_before);
  add_words(table, "relative",
            {signed_share(d.kernels_after - d.kernels_before, d.kernels_before),
             signed_share(d.idle_after - d.idle_before, d.idle_before),
             signed_share(d.span_after - d.span_before, d.span_before)});
  table.notes.push_back(
      fmt::format("{} before, {} after", counted(d.programs_before, "program"), d.programs_after));
  return table;
}

Table changes_table(const LogDifference& difference, std::size_t top) {
  const auto changed = std::ranges::count_if(
      difference.changes, [](const LogChange& one) { return one.change() != SimTime(); });
  const std::size_t shown = std::min(top, static_cast<std::size_t>(changed));
  std::vector<LogChange> rows(difference.changes.begin(),
                              difference.changes.begin() + static_cast<std::ptrdiff_t>(shown));
  std::vector<std::string> verdicts = each(rows, verdict);
  if (shown < difference.changes.size()) {
    LogChange rest{.op = fmt::format("others: {}", difference.changes.size() - shown)};
    for (const LogChange& one : std::span(difference.changes).subspan(shown)) {
      rest.runs_before += one.runs_before;
      rest.runs_after += one.runs_after;
      rest.before += one.before;
      rest.after += one.after;
    }
    rows.push_back(rest);
    verdicts.emplace_back();
  }
  Table table{.caption = "what changed, by kernel time"};
  const RowColumns columns(table, rows);
  columns.words("op", &LogChange::op);
  columns.keys("call", &LogChange::operands);
  add_words(table, "is", verdicts);
  columns.counts("runs before", &LogChange::runs_before);
  columns.counts("runs after", &LogChange::runs_after);
  columns.quantities("before", "s", &LogChange::before);
  columns.quantities("after", "s", &LogChange::after);
  columns.quantities("change", "s", &LogChange::change);
  columns.words("relative",
                [](const LogChange& one) { return signed_share(one.change(), one.before); });
  make_keys(table, {"is", "change", "relative"});
  table.notes.emplace_back("the changes add up to that of the kernels");
  return table;
}

}  // namespace

LogDifference difference(const profiler::Log& before, const profiler::Log& after) {
  std::map<CallKey, LogChange> changes;
  const Totals first = for_each_thing(before, [&](const CallKey& key, SimTime time) {
    LogChange& change = changes[key];
    ++change.runs_before;
    change.before += time;
  });
  const Totals second = for_each_thing(after, [&](const CallKey& key, SimTime time) {
    LogChange& change = changes[key];
    ++change.runs_after;
    change.after += time;
  });
  LogDifference found{.changes = {},
                      .programs_before = first.programs,
                      .programs_after = second.programs,
                      .kernels_before = first.kernels,
                      .kernels_after = second.kernels,
                      .idle_before = first.idle,
                      .idle_after = second.idle,
                      .span_before = first.span,
                      .span_after = second.span};
  std::map<std::pair<std::string, std::string>, int>
      attributes;  // these tell calls that look alike apart
  for (auto& [key, change] : changes) {
    const auto& [op, operands, fidelity, told] = key;
    change.op = op;
    change.operands = operands;
    if (!fidelity.empty()) change.operands += ", " + fidelity;
    const int number = ++attributes[{op, change.operands}];
    if (number > 1) change.operands += fmt::format(", other attributes ({})", number);
    found.changes.push_back(std::move(change));
  }
  std::ranges::stable_sort(found.changes, std::greater(),
                           [](const LogChange& change) { return std::abs(change.change().ps()); });
  return found;
}

std::vector<Table> difference_tables(const LogDifference& difference, std::string_view title,
                                     std::size_t top) {
  std::vector<Table> tables{totals_table(difference), changes_table(difference, top)};
  for (Table& table : tables) table.caption = fmt::format("{}: {}", title, table.caption);
  return tables;
}

harness::ExperimentResult difference_result(const LogDifference& difference,
                                            const std::string& before, const std::string& after,
                                            const harness::RunContext& context) {
  harness::ExperimentResult result{
      .experiment = "log_difference", .context = context, .points = {}};
  for (const LogChange& one : difference.changes) {
    harness::PointResult point{
        .backend = harness::Backend::log,
        .parameters = {
            {"log", after}, {"before_log", before}, {"op", one.op}, {"call", one.operands}}};
    const auto add = [&](std::string name, double value, std::string unit) {
      point.metrics.push_back({.name = std::move(name), .value = value, .unit = std::move(unit)});
    };
    add("before", one.before.seconds(), "s");
    add("after", one.after.seconds(), "s");
    add("change", one.change().seconds(), "s");
    add("runs_before", static_cast<double>(one.runs_before), "count");
    add("runs_after", static_cast<double>(one.runs_after), "count");
    point.details.emplace_back("is", verdict(one));
    result.points.push_back(std::move(point));
  }
  return result;
}

}  // namespace howard::reports
