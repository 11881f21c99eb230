// SPDX-License-Identifier: Apache-2.0
#include "reports/findings/log_advice_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

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

std::string bound_of(const CallUse& use) {
  if (use.emulated) return std::string(use.emulated->bound_by);
  return use.not_emulated.empty() ? "" : fmt::format("({})", use.not_emulated);
}

Table calls_table(const LogAdvice& advice, std::size_t top) {
  const std::size_t shown = std::min(top, advice.uses.size());
  SimTime all;
  for (const CallUse& use : advice.uses) all += use.time;
  Table table{.caption = "calls by kernel time"};
  const auto first = std::span(advice.uses).first(shown);
  const RowColumns columns(table, first);
  columns.words("op", &CallUse::name);
  columns.keys("operands", [](const CallUse& use) { return use.facts.operands; });
  columns.counts("runs", &CallUse::runs);
  columns.quantities("time", "s", &CallUse::time);
  columns.quantities("share", "1", [&](const CallUse& use) { return share(use.time, all); });
  columns.quantities("median", "s", &CallUse::median);
  columns.words("cores", [](const CallUse& use) {
    return use.cores == 0        ? std::string()
           : use.base_cores == 0 ? fmt::to_string(use.cores)
                                 : fmt::format("{} of {}", use.cores, use.base_cores);
  });
  columns.quantities("of DRAM", "1", share_of_dram);
  columns.quantities("of FLOPs", "1", share_of_flops);
  columns.words("fidelity", &CallUse::fidelity);
  columns.quantities("PM IDEAL", "s", [](const CallUse& use) { return use.facts.ideal; });
  columns.quantities("emulated", "s", [](const CallUse& use) {
    return use.emulated ? std::optional(use.emulated->kernel) : std::nullopt;
  });
  columns.words("emulated bound by", bound_of);
  if (shown < advice.uses.size()) {
    table.notes.push_back(counted(advice.uses.size() - shown, "more call"));
  }
  table.notes.emplace_back(
      "of DRAM, of FLOPs: each operand moved once at the DRAM's peak, and the product at the peak "
      "of the cores that it could have at its fidelity, over the median");
  return table;
}

Table findings_table(const LogAdvice& advice, std::size_t top) {
  const std::size_t shown = std::min(top, advice.findings.size());
  Table table{.caption = "what would save time"};
  const auto first = std::span(advice.findings).first(shown);
  const RowColumns columns(table, first);
  columns.keys("change", &LogFinding::what);
  columns.keys("of", &LogFinding::where);
  columns.counts("programs", &LogFinding::programs);
  columns.quantities("now", "s", &LogFinding::now);
  columns.quantities("gain", "s", &LogFinding::gain);
  columns.words("certainty", [](const LogFinding& finding) { return name_of(finding.source); });
  columns.words("because", &LogFinding::why);
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
  if (use.facts.ideal) add_time(point, "ideal_time", *use.facts.ideal);
  if (use.emulated) add_time(point, "emulated_time", use.emulated->kernel);
  add_detail(point, "fidelity", use.fidelity);
  if (use.cores > 0) add_detail(point, "cores", fmt::to_string(use.cores));
  if (use.base_cores > 0) add_detail(point, "worker_cores", fmt::to_string(use.base_cores));
  if (use.emulated) add_detail(point, "bound_by", std::string(use.emulated->bound_by));
  add_detail(point, "not_emulated", use.not_emulated);
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
    of_run.uses = profiler::uses_of_calls(run, log.calls, emulator);
    const auto devices = profiler::find_gaps(run.timeline, profiler::LaneKind::device);
    of_run.findings = profiler::advise(run, log.calls, devices, of_run.uses, emulator);
  }
  return advice;
}

std::vector<Table> advice_tables(const LogAdvice& advice, std::string_view title, std::size_t top) {
  if (advice.uses.empty()) return {};
  std::vector<Table> tables{calls_table(advice, top), findings_table(advice, top)};
  for (Table& table : tables) table.caption = fmt::format("{}: {}", title, table.caption);
  return tables;
}

std::vector<ExperimentResult> advice_results(const std::vector<LogAdvice>& advice,
                                             const std::string& name,
                                             const harness::RunContext& context) {
  ExperimentResult calls{.experiment = "log_calls", .context = context, .points = {}};
  ExperimentResult findings{.experiment = "log_advice", .context = context, .points = {}};
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
