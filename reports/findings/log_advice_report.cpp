// SPDX-License-Identifier: Apache-2.0
#include "reports/findings/log_advice_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "base/text.h"
#include "reports/findings/op_groups.h"
#include "reports/findings/silicon_report.h"
#include "reports/tables/format.h"
#include "reports/tables/row_columns.h"

namespace howard::reports {
namespace {

using harness::ExperimentResult;
using harness::PointResult;
using profiler::CallUse;
using profiler::LogFinding;

/// These functions return what the DRAM or the matrix units had to do of what they can, while one
/// run took its median.
std::optional<double> share_of_dram(const CallUse& use) {
  if (use.dram_at_peak == SimTime() || use.median == SimTime()) return std::nullopt;
  return use.dram_at_peak.seconds() / use.median.seconds();
}

std::optional<double> share_of_flops(const CallUse& use) {
  if (use.flops_at_peak == SimTime() || use.median == SimTime()) return std::nullopt;
  return use.flops_at_peak.seconds() / use.median.seconds();
}

std::string emulated_bound(const CallUse& use) {
  if (use.emulated && use.emulated->places > 0) {
    return fmt::format("{}; {} places by its time", use.emulated->bound_by, use.emulated->places);
  }
  if (use.emulated) return std::string(use.emulated->bound_by);
  return use.not_emulated.empty() ? "" : fmt::format("({})", use.not_emulated);
}

std::string cores_of_call(const CallUse& use) {
  if (use.cores == 0) return "";
  if (use.base_cores == 0) return fmt::to_string(use.cores);
  return fmt::format("{}/{}", use.cores, use.base_cores);
}

void add_call_notes(const LogAdvice& advice, Table& table) {
  table.notes.emplace_back(
      "of DRAM, of FLOPs: each operand moved once at the DRAM's peak (of a product, weights again "
      "for each matrix of a batch), and the product at the peak of the cores that it could have at "
      "its fidelity, over the median. Blank: not known, or it touches a part of an operand");
  table.notes.emplace_back(
      "bound: DRAM, FLOPs or both from 65 % on; host: the device waited longer for it than the "
      "call took; slow: neither");
  if (std::ranges::any_of(advice.uses,
                          [](const CallUse& use) { return use.emulated.has_value(); })) {
    table.notes.emplace_back(kRestsOn);
  }
  const auto doubtful = std::ranges::count_if(advice.uses, &CallUse::doubtful);
  if (doubtful == 0) return;
  table.notes.push_back(fmt::format(
      "{} not compared: the runs differ by more than the shape that the log has allows. Logs of "
      "2026 give elementwise programs the shapes of the first call with the same program hash",
      counted(static_cast<std::size_t>(doubtful), "call")));
}

/// Returns the counters that a log has of any of the calls.
std::vector<std::size_t> counters_of(std::span<const CallUse> uses) {
  std::vector<std::size_t> counters;
  for (std::size_t i = 0; i < profiler::kCounters.size(); ++i) {
    const auto has = [&](const CallUse& use) { return use.counters.at(i).has_value(); };
    if (std::ranges::any_of(uses, has)) counters.push_back(i);
  }
  return counters;
}

/// Returns "noc_util" for "NOC UTIL".
std::string metric_of(std::string_view counter) {
  std::string name = lower_case(counter);
  std::ranges::replace(name, ' ', '_');
  return name;
}

Table calls_table(const LogAdvice& advice, std::size_t top) {
  const std::size_t shown = std::min(top, advice.uses.size());
  SimTime all;
  for (const CallUse& use : advice.uses) all += use.time;
  Table table{.caption = "calls by kernel time"};
  const auto first = std::span(advice.uses).first(shown);
  const RowColumns columns(table, first);
  columns.keys("op", [](const CallUse& use) { return brief_name(use.name); });
  columns.keys("operands", [](const CallUse& use) { return use.facts.short_operands; });
  columns.quantities("median", "s", &CallUse::median);
  columns.words("cores", cores_of_call);
  columns.quantities("of DRAM", "1", share_of_dram);
  columns.quantities("of FLOPs", "1", share_of_flops);
  columns.words("bound", [](const CallUse& use) { return profiler::bound_of(use); });
  columns.quantities("time", "s", &CallUse::time);
  columns.quantities("emulated", "s", [](const CallUse& use) {
    return use.emulated ? std::optional(use.emulated->kernel) : std::nullopt;
  });
  columns.words("rests on", [](const CallUse& use) {
    return use.emulated ? use.emulated->known : std::string_view();
  });
  columns.words("fidelity", &CallUse::fidelity);
  columns.words("emulated bound by", emulated_bound);
  const std::vector<std::size_t> counters = counters_of(first);
  for (const std::size_t i : counters) {
    columns.quantities(std::string(profiler::kCounters.at(i)), "1",
                       [i](const CallUse& use) { return use.counters.at(i); });
  }
  columns.quantities("PM IDEAL", "s", [](const CallUse& use) { return use.facts.ideal; });
  columns.words("PM bound", [](const CallUse& use) { return use.facts.ideal_bound; });
  columns.quantities("share", "1", [&](const CallUse& use) { return share(use.time, all); });
  columns.counts("runs", &CallUse::runs);
  make_keys(table, {"median", "cores", "of DRAM", "of FLOPs", "bound"});
  if (shown < advice.uses.size()) {
    table.notes.push_back(counted(advice.uses.size() - shown, "more call"));
  }
  add_call_notes(advice, table);
  if (!counters.empty()) {
    table.notes.push_back(
        fmt::format("{} and what stands beside: the log's own counters, in the "
                    "mean of the call's runs",
                    profiler::kCounters.at(counters.front())));
  }
  return table;
}

/// Holds what the calls of one kind of work took.
struct WorkTime {
  profiler::OpWork work{};
  std::uint64_t runs = 0;
  SimTime time;
};

Table work_table(const LogAdvice& advice) {
  std::vector<WorkTime> works;
  SimTime all;
  for (const CallUse& use : advice.uses) {
    const profiler::OpWork work = profiler::work_of(use.name);
    auto found = std::ranges::find(works, work, &WorkTime::work);
    if (found == works.end()) found = works.insert(works.end(), WorkTime{.work = work});
    found->runs += use.runs;
    found->time += use.time;
    all += use.time;
  }
  std::ranges::stable_sort(works, std::greater(), &WorkTime::time);
  Table table{.caption = "kernel time by kind of work"};
  const RowColumns columns(table, works);
  columns.words("work", [](const WorkTime& one) { return name_of(one.work); });
  columns.quantities("time", "s", &WorkTime::time);
  columns.quantities("share", "1", [&](const WorkTime& one) { return share(one.time, all); });
  columns.counts("runs", &WorkTime::runs);
  return table;
}

Table misses_table(const LogAdvice& advice, std::size_t top) {
  const auto first = std::span(advice.misses).first(std::min(top, advice.misses.size()));
  Table table{.caption = "programs that were compiled: misses of the program cache"};
  const RowColumns columns(table, first);
  columns.keys("op", [](const CacheMiss& miss) { return brief_name(miss.op); });
  columns.keys("operands", &CacheMiss::operands);
  columns.counts("misses", &CacheMiss::misses);
  columns.counts("runs", &CacheMiss::runs);
  columns.quantities("waited", "s", &CacheMiss::waited);
  if (first.size() < advice.misses.size()) {
    table.notes.push_back(counted(advice.misses.size() - first.size(), "more call"));
  }
  return table;
}

/// Returns the calls that were compiled, by what the devices waited before.
std::vector<CacheMiss> misses_of(const profiler::LoggedRun& run, const profiler::OpCalls& calls,
                                 std::span<const profiler::BusyLane> devices) {
  std::map<std::uint32_t, CacheMiss> by_call;
  for (const profiler::ProgramRun& program : run.timeline.programs) {
    if (program.call == 0) continue;
    CacheMiss& miss = by_call[program.call];
    ++miss.runs;
    if (program.compiled) ++miss.misses;
  }
  for (const profiler::BusyLane& lane : devices) {
    for (const profiler::Gap& gap : lane.gaps) {
      const profiler::ProgramRun& after = run.timeline.programs[gap.after];
      if (after.compiled && after.call != 0) by_call[after.call].waited += gap.span.duration();
    }
  }
  std::vector<CacheMiss> misses;
  for (auto& [call, miss] : by_call) {
    if (miss.misses == 0) continue;
    miss.op = calls.row(call).name;
    miss.operands = profiler::facts_of(calls.row(call)).short_operands;
    misses.push_back(std::move(miss));
  }
  std::ranges::stable_sort(misses, std::greater(), &CacheMiss::waited);
  return misses;
}

Table findings_table(const LogAdvice& advice, std::size_t top) {
  const std::size_t shown = std::min(top, advice.findings.size());
  Table table{.caption = "what would save time"};
  const auto first = std::span(advice.findings).first(shown);
  const RowColumns columns(table, first);
  columns.keys("change", &LogFinding::what);
  columns.keys("of", &LogFinding::brief);
  columns.quantities("now", "s", &LogFinding::now);
  columns.quantities("gain", "s", &LogFinding::gain);
  columns.words("certainty", [](const LogFinding& finding) { return name_of(finding.source); });
  columns.words("because", &LogFinding::why);
  columns.counts("programs", &LogFinding::programs);
  make_keys(table, {"now", "gain", "certainty"});
  if (shown == 0) {
    table.notes.emplace_back(
        "nothing to gain here: no change that is known would give a "
        "thousandth of the kernels' time");
    return table;
  }
  if (shown < advice.findings.size()) {
    table.notes.push_back(counted(advice.findings.size() - shown, "more finding"));
  }
  table.notes.emplace_back(
      "gains do not add up: several findings may be about the same time. measured: by programs of "
      "this log; emulated: both ways run on the emulator; at most: a bound");
  return table;
}

PointResult point_of_run(const std::string& log, std::size_t run) {
  return {.backend = harness::Backend::log,
          .parameters = {{"log", log}, {"run", std::to_string(run + 1)}}};
}

void add_time(PointResult& point, std::string name, SimTime time) {
  point.metrics.push_back({.name = std::move(name), .value = time.seconds(), .unit = "s"});
}

void add_share(PointResult& point, std::string name, std::optional<double> share) {
  if (!share) return;
  point.metrics.push_back({.name = std::move(name), .value = *share, .unit = "1"});
}

void add_detail(PointResult& point, std::string name, std::string text) {
  if (!text.empty()) point.details.emplace_back(std::move(name), std::move(text));
}

PointResult point_of(const CallUse& use, const std::string& log, std::size_t run) {
  PointResult point = point_of_run(log, run);
  point.parameters.emplace_back("call", fmt::to_string(use.call));
  point.parameters.emplace_back("op", use.name);
  point.parameters.emplace_back("operands", use.facts.operands);
  add_time(point, "time", use.time);
  point.metrics.push_back(
      {.name = "runs", .value = static_cast<double>(use.runs), .unit = "count"});
  add_time(point, "median_time", use.median);
  add_share(point, "share_of_dram", share_of_dram(use));
  add_share(point, "share_of_flops", share_of_flops(use));
  add_time(point, "host_gap", use.gap);
  if (use.facts.ideal) add_time(point, "ideal_time", *use.facts.ideal);
  if (use.emulated) add_share(point, "expected_error", use.emulated->expected_error);
  if (use.emulated) add_time(point, "emulated_time", use.emulated->kernel);
  for (const std::size_t i : counters_of(std::span(&use, 1))) {
    add_share(point, metric_of(profiler::kCounters.at(i)), use.counters.at(i));
  }
  add_detail(point, "fidelity", use.fidelity);
  if (use.cores > 0) add_detail(point, "cores", fmt::to_string(use.cores));
  if (use.base_cores > 0) add_detail(point, "worker_cores", fmt::to_string(use.base_cores));
  add_detail(point, "ideal_bound", std::string(use.facts.ideal_bound));
  if (use.emulated) point.add(harness::kBoundBy, std::string(use.emulated->bound_by));
  if (use.emulated) add_detail(point, "known", std::string(use.emulated->known));
  if (use.emulated && use.emulated->places > 0) {
    add_detail(point, "places_by_its_time", fmt::to_string(use.emulated->places));
  }
  add_detail(point, "not_emulated", use.not_emulated);
  add_detail(point, "bound", std::string(profiler::bound_of(use)));
  add_detail(point, "work", std::string(name_of(profiler::work_of(use.name))));
  return point;
}

PointResult point_of(const LogFinding& finding, const std::string& log, std::size_t run) {
  PointResult point = point_of_run(log, run);
  point.parameters.emplace_back("change", finding.what);
  point.parameters.emplace_back("of", finding.where);
  add_time(point, "time", finding.now);
  add_time(point, "gain", finding.gain);
  point.metrics.push_back(
      {.name = "runs", .value = static_cast<double>(finding.programs), .unit = "count"});
  add_detail(point, "certainty", std::string(name_of(finding.source)));
  add_detail(point, "because", finding.why);
  return point;
}

}  // namespace

std::vector<LogAdvice> advice_of(const profiler::Log& log, profiler::CallEmulator* emulator) {
  std::vector<LogAdvice> advice;
  if (log.calls.size() == 0) return advice;
  for (const profiler::LoggedRun& run : log.runs) {
    LogAdvice& of_run = advice.emplace_back();
    const auto devices = profiler::find_gaps(run.timeline, profiler::LaneKind::device);
    of_run.uses = profiler::uses_of_calls(run, log.calls, devices, emulator);
    of_run.findings = profiler::advise(run, log.calls, devices, of_run.uses, emulator);
    for (profiler::LogFinding& finding : of_run.findings) {
      if (finding.brief.empty()) finding.brief = brief_name(finding.where);
    }
    of_run.misses = misses_of(run, log.calls, devices);
  }
  return advice;
}

Table finding_table(const LogAdvice& advice, std::string_view title, std::size_t top) {
  Table table = findings_table(advice, top);
  table.caption = fmt::format("{}: {}", title, table.caption);
  return table;
}

std::vector<Table> advice_tables(const LogAdvice& advice, std::string_view title, std::size_t top) {
  if (advice.uses.empty()) return {};
  std::vector<Table> tables{findings_table(advice, top), calls_table(advice, top),
                            work_table(advice)};
  if (!advice.misses.empty()) tables.push_back(misses_table(advice, top));
  for (Table& table : tables) table.caption = fmt::format("{}: {}", title, table.caption);
  return tables;
}

std::vector<ExperimentResult> advice_results(const std::vector<LogAdvice>& advice,
                                             const std::string& name,
                                             const harness::RunContext& context) {
  ExperimentResult calls{
      .experiment = name_of(harness::CommandResult::log_calls), .context = context, .points = {}};
  ExperimentResult findings{
      .experiment = name_of(harness::CommandResult::log_advice), .context = context, .points = {}};
  for (std::size_t run = 0; run < advice.size(); ++run) {
    for (const CallUse& use : advice[run].uses) calls.points.push_back(point_of(use, name, run));
    for (const LogFinding& finding : advice[run].findings) {
      findings.points.push_back(point_of(finding, name, run));
    }
  }
  std::vector<ExperimentResult> results;
  for (ExperimentResult* const result : {&calls, &findings}) {
    if (!result->points.empty()) results.push_back(std::move(*result));
  }
  return results;
}

}  // namespace howard::reports
