// SPDX-License-Identifier: Apache-2.0
#include "reports/findings/log_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text.h"
#include "profiler/dispatch_gaps.h"
#include "profiler/silicon/call_facts.h"
#include "profiler/silicon/changed_call.h"
#include "profiler/silicon/log_advice.h"
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

/// Adds what a log spent on each thing by `take`, which gets its key, the number of its call and
/// the time.
template <class Take>
Totals for_each_thing(const profiler::Log& log, const Take& take) {
  Totals totals;
  std::map<std::uint32_t, CallKey> keys;  // the keys of calls
  for (const profiler::LoggedRun& run : log.runs) {
    for (const profiler::ProgramRun& program : run.timeline.programs) {
      ++totals.programs;
      totals.kernels += program.kernel.duration();
      if (program.call == 0) {
        take(key_of(log, run, program), program.call, program.kernel.duration());
        continue;
      }
      const auto [found, is_new] = keys.try_emplace(program.call);
      if (is_new) found->second = key_of(log, run, program);
      take(found->second, program.call, program.kernel.duration());
    }
    for (const auto& lane : profiler::find_gaps(run.timeline, profiler::LaneKind::device)) {
      totals.idle += lane.idle;
      totals.span += lane.span.duration();
    }
  }
  return totals;
}

std::string signed_share(SimTime change, SimTime before) {
  if (before == SimTime()) return "";
  return fmt::format("{:+.1f} %", 100 * change.seconds() / before.seconds());
}

using Values = std::vector<std::optional<double>>;

Table totals_table(const LogDifference& difference) {
  Table table{.caption = "before and after"};
  add_words(table, "what", {"kernels", "idle", "first start to last end"});
  const LogDifference& d = difference;
  const auto seconds = [](SimTime kernels, SimTime idle, SimTime span) {
    return Values{kernels.seconds(), idle.seconds(), span.seconds()};
  };
  add_compared(table, "s",
               {{"before", seconds(d.kernels_before, d.idle_before, d.span_before)},
                {"after", seconds(d.kernels_after, d.idle_after, d.span_after)},
                {"change", seconds(d.kernels_after - d.kernels_before, d.idle_after - d.idle_before,
                                   d.span_after - d.span_before)}});
  add_words(table, "relative",
            {signed_share(d.kernels_after - d.kernels_before, d.kernels_before),
             signed_share(d.idle_after - d.idle_before, d.idle_before),
             signed_share(d.span_after - d.span_before, d.span_before)});
  table.notes.push_back(
      fmt::format("{} before, {} after", counted(d.programs_before, "program"), d.programs_after));
  for (const std::string& warning : d.warnings_before) {
    table.notes.push_back("warning, before: " + warning);
  }
  for (const std::string& warning : d.warnings_after) {
    table.notes.push_back("warning, after: " + warning);
  }
  return table;
}

std::optional<double> seconds_of(SimTime time) {
  return time > SimTime() ? std::optional(time.seconds()) : std::nullopt;
}

/// Returns the changes that are no noise, the largest first, and after them one for all others.
std::vector<LogChange> shown_changes(const LogDifference& difference, std::size_t top) {
  std::vector<LogChange> rows;
  LogChange rest;
  std::size_t others = 0;
  for (const LogChange& one : difference.changes) {
    if (rows.size() < top && verdict_of(one) != "same") {
      rows.push_back(one);
      continue;
    }
    ++others;
    rest.runs_before += one.runs_before;
    rest.runs_after += one.runs_after;
    rest.before += one.before;
    rest.after += one.after;
  }
  rest.op = fmt::format("others: {}", others);
  if (others > 0) rows.push_back(rest);
  return rows;
}

Table changes_table(const LogDifference& difference, std::size_t top) {
  const std::vector<LogChange> rows = shown_changes(difference, top);
  const auto is_rest = [](const LogChange& one) { return one.op.starts_with("others: "); };
  Table table{.caption = "what changed, by kernel time"};
  const RowColumns columns(table, rows);
  columns.keys("op", &LogChange::op);
  columns.keys("call", &LogChange::operands);
  columns.words(
      "is", [&](const LogChange& one) { return is_rest(one) ? std::string() : verdict_of(one); });
  const bool any =
      std::ranges::any_of(rows, [](const LogChange& one) { return !one.changed.empty(); });
  if (any) columns.words("changed", &LogChange::changed);
  add_compared(
      table, "s",
      {{"a run before",
        each(rows, [](const LogChange& one) { return seconds_of(one.one_before); })},
       {"after", each(rows, [](const LogChange& one) { return seconds_of(one.one_after); })}});
  columns.words("relative", [](const LogChange& one) {
    const bool both = one.one_before > SimTime() && one.one_after > SimTime();
    return both ? signed_share(one.one_after - one.one_before, one.one_before) : std::string();
  });
  columns.words("noise", [](const LogChange& one) {
    if (one.one_before == SimTime() || one.one_after == SimTime()) return std::string();
    return fmt::format("{:.1f} %", 100 * one.noise.seconds() / one.one_before.seconds());
  });
  columns.counts("runs before", &LogChange::runs_before);
  columns.counts("runs after", &LogChange::runs_after);
  columns.quantities("change of all", "s", &LogChange::change);
  make_keys(table, {"is", "a run before", "after", "relative"});
  table.notes.emplace_back(
      "a run: the median; slower, faster: by more than the noise, which is that of the logs' own "
      "runs and 1 % at least. The changes of all add up to that of the kernels");
  const bool missing = std::ranges::any_of(difference.changes, [](const LogChange& one) {
    return verdict_of(one).find("rows missing") != std::string::npos;
  });
  if (missing) {
    table.notes.emplace_back(
        "rows missing: rows of the op were left out of one of the logs, as the warnings say, so "
        "that the numbers of runs tell nothing");
  }
  return table;
}

SimTime quantile(const std::vector<SimTime>& sorted, std::size_t quarter) {
  return sorted.empty() ? SimTime() : sorted[(sorted.size() - 1) * quarter / 4];
}

/// Returns the standard error of a median: 1.25 standard deviations over the root of the number,
/// and of a normal distribution the quartiles are 1.35 deviations apart.
double error_of_median(const std::vector<SimTime>& sorted) {
  if (sorted.size() < 2) return 0;
  const double deviation = (quantile(sorted, 3) - quantile(sorted, 1)).seconds() / 1.35;
  return 1.25 * deviation / std::sqrt(static_cast<double>(sorted.size()));
}

/// Returns what the medians may differ by: three standard errors of their difference, and a
/// hundredth of them, by which kernels differ from session to session.
SimTime noise_of(const std::vector<SimTime>& before, const std::vector<SimTime>& after) {
  constexpr double kSessions = 0.01, kErrors = 3;
  const double error = std::hypot(error_of_median(before), error_of_median(after));
  const double noise = std::max(kErrors * error, kSessions * quantile(before, 2).seconds());
  return SimTime::picoseconds(std::llround(noise * 1e12));
}

/// Holds what one log has of a thing.
struct Side {
  std::vector<SimTime> times;
  const profiler::OpRow* call = nullptr;  ///< Null for an op.
};

struct Thing {
  Side before, after;
  std::vector<std::string> changes = {};  ///< What tells the two sides apart.
};

using Things = std::map<CallKey, Thing>;

/// Makes one thing of two of the same work: the one of `gone` that only the older log has, and that
/// of `fresh` which differs least from it. The calls with the longest time choose first.
void pair_changed(std::vector<Thing*> gone, std::vector<Thing*> fresh) {
  constexpr std::size_t kMostCompared = 64;
  const auto time_of = [](const std::vector<SimTime>& times) {
    SimTime sum;
    for (const SimTime time : times) sum += time;
    return sum;
  };
  std::ranges::stable_sort(gone, std::greater(),
                           [&](const Thing* one) { return time_of(one->before.times); });
  for (Thing* const one : gone) {
    if (fresh.empty()) return;
    auto best = fresh.end();
    const auto last = fresh.size() <= kMostCompared ? fresh.end() : fresh.begin() + kMostCompared;
    for (auto other = fresh.begin(); other != last; ++other) {
      auto changes = profiler::differences(*one->before.call, *(*other)->after.call);
      if (best != fresh.end() && changes.size() >= one->changes.size()) continue;
      best = other;
      one->changes = std::move(changes);
    }
    one->after = std::move((*best)->after);
    fresh.erase(best);
  }
}

/// Finds the things that only changed.
void pair_changed(Things& things) {
  std::map<std::string, std::pair<std::vector<Thing*>, std::vector<Thing*>>> alone;  // by work
  for (auto& [key, thing] : things) {
    if (thing.after.times.empty() && thing.before.call != nullptr) {
      alone[profiler::work_of(*thing.before.call)].first.push_back(&thing);
    } else if (thing.before.times.empty() && thing.after.call != nullptr) {
      alone[profiler::work_of(*thing.after.call)].second.push_back(&thing);
    }
  }
  for (auto& [work, both] : alone) pair_changed(std::move(both.first), std::move(both.second));
  std::erase_if(things, [](const auto& entry) {
    return entry.second.before.times.empty() && entry.second.after.times.empty();
  });
}

/// Returns the first few of what changed, in one line.
std::string text_of(const std::vector<std::string>& changes) {
  constexpr std::size_t kMostNamed = 3;
  const std::vector<std::string> named(
      changes.begin(),
      changes.begin() + static_cast<std::ptrdiff_t>(std::min(kMostNamed, changes.size())));
  std::string text = join(named, "; ");
  if (changes.size() > kMostNamed) text += fmt::format("; {} more", changes.size() - kMostNamed);
  return text;
}

}  // namespace

std::string verdict_of(const LogChange& change) {
  const bool missing = change.missing_before != change.missing_after;
  if (change.runs_before == 0) return missing ? "rows missing" : "new";
  if (change.runs_after == 0) return missing ? "rows missing" : "gone";
  if (change.doubtful) return "shapes unsure";
  const SimTime difference = change.one_after - change.one_before;
  const bool noise = std::abs(difference.ps()) <= change.noise.ps();
  const char* const as_long = change.changed.empty() ? "same" : "as long";
  std::string verdict = noise ? as_long : difference > SimTime() ? "slower" : "faster";
  if (change.runs_before == change.runs_after) return verdict;
  const std::string runs = missing                                  ? "rows missing"
                           : change.runs_after < change.runs_before ? "fewer runs"
                                                                    : "more runs";
  return noise ? runs : verdict + ", " + runs;
}

LogDifference difference(const profiler::Log& before, const profiler::Log& after) {
  Things things;
  const auto add_to = [&](Side Thing::*side, const profiler::Log& log) {
    return [&things, &log, side](const CallKey& key, std::uint32_t call, SimTime time) {
      Side& of_log = things[key].*side;
      of_log.times.push_back(time);
      if (call != 0) of_log.call = &log.calls.row(call);
    };
  };
  const Totals first = for_each_thing(before, add_to(&Thing::before, before));
  const Totals second = for_each_thing(after, add_to(&Thing::after, after));
  pair_changed(things);
  LogDifference found{.changes = {},
                      .programs_before = first.programs,
                      .programs_after = second.programs,
                      .kernels_before = first.kernels,
                      .kernels_after = second.kernels,
                      .idle_before = first.idle,
                      .idle_after = second.idle,
                      .span_before = first.span,
                      .span_after = second.span,
                      .warnings_before = warnings_of(before),
                      .warnings_after = warnings_of(after)};
  std::map<std::pair<std::string, std::string>, int>
      attributes;  // these tell calls that look alike apart
  for (auto& [key, thing] : things) {
    const auto& [op, operands, fidelity, told] = key;
    std::vector<SimTime>&times_before = thing.before.times, &times_after = thing.after.times;
    LogChange change{.op = op, .operands = operands, .changed = text_of(thing.changes)};
    if (!fidelity.empty()) change.operands += ", " + fidelity;
    const int number = ++attributes[{op, change.operands}];
    if (number > 1) change.operands += fmt::format(", other attributes ({})", number);
    change.runs_before = times_before.size();
    change.runs_after = times_after.size();
    for (const SimTime time : times_before) change.before += time;
    for (const SimTime time : times_after) change.after += time;
    change.doubtful = !operands.empty() && (profiler::has_doubtful_shapes(op, times_before) ||
                                            profiler::has_doubtful_shapes(op, times_after));
    std::ranges::sort(times_before);
    std::ranges::sort(times_after);
    change.one_before = quantile(times_before, 2);
    change.one_after = quantile(times_after, 2);
    change.noise = noise_of(times_before, times_after);
    change.missing_before = before.dropped.count_of(op);
    change.missing_after = after.dropped.count_of(op);
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
  harness::ExperimentResult result{.experiment = name_of(harness::CommandResult::log_difference),
                                   .context = context,
                                   .points = {}};
  for (const std::string& warning : difference.warnings_before) {
    result.context.warnings.push_back(before + ": " + warning);
  }
  for (const std::string& warning : difference.warnings_after) {
    result.context.warnings.push_back(after + ": " + warning);
  }
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
    add("before_each", one.one_before.seconds(), "s");
    add("after_each", one.one_after.seconds(), "s");
    add("noise", one.noise.seconds(), "s");
    point.details.emplace_back("is", verdict_of(one));
    if (!one.changed.empty()) point.details.emplace_back("changed", one.changed);
    result.points.push_back(std::move(point));
  }
  return result;
}

}  // namespace howard::reports
