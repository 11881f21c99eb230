// SPDX-License-Identifier: Apache-2.0
#include "reports/findings/log_advice_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "reports/tables/columns.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

using harness::ExperimentResult;
using harness::PointResult;
using profiler::CallUse;
using profiler::LogFinding;
using Numbers = std::vector<std::optional<double>>;
using Counts = std::vector<std::optional<std::uint64_t>>;

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

std::optional<double> seconds(std::optional<SimTime> time) {
  return time ? std::optional(time->seconds()) : std::nullopt;
}

std::string bound_of(const CallUse& use) {
  if (use.emulated) return std::string(use.emulated->bound_by);
  return use.not_emulated.empty() ? "" : fmt::format("({})", use.not_emulated);
}

Table calls_table(const LogAdvice& advice, std::size_t top) {
  const std::size_t shown = std::min(top, advice.uses.size());
  SimTime all;
  for (const CallUse& use : advice.uses) all += use.time;
  std::vector<std::string> names, operands, fidelities, cores, bounds;
  Counts runs;
  Numbers times, shares, medians, dram, flops, ideal, emulated;
  for (const CallUse& use : std::span(advice.uses).first(shown)) {
    names.push_back(use.name);
    operands.push_back(use.facts.operands);
    fidelities.push_back(use.fidelity);
    cores.push_back(use.cores == 0        ? ""
                    : use.base_cores == 0 ? fmt::to_string(use.cores)
                                          : fmt::format("{} of {}", use.cores, use.base_cores));
    runs.emplace_back(use.runs);
    times.emplace_back(use.time.seconds());
    shares.push_back(share(use.time, all));
    medians.emplace_back(use.median.seconds());
    dram.push_back(share_of_dram(use));
    flops.push_back(share_of_flops(use));
    ideal.push_back(seconds(use.facts.ideal));
    emulated.push_back(use.emulated ? std::optional(use.emulated->kernel.seconds()) : std::nullopt);
    bounds.push_back(bound_of(use));
  }
  Table table{.caption = "calls by kernel time"};
  add_words(table, "op", names);
  add_words(table, TableColumn{.title = "operands", .room = harness::Room::key}, operands);
  add_counts(table, "runs", runs);
  add_quantities(table, "time", "s", times);
  add_quantities(table, "share", "1", shares);
  add_quantities(table, "median", "s", medians);
  add_words(table, "cores", cores);
  add_quantities(table, "of DRAM", "1", dram);
  add_quantities(table, "of FLOPs", "1", flops);
  add_words(table, "fidelity", fidelities);
  add_quantities(table, "PM IDEAL", "s", ideal);
  add_quantities(table, "emulated", "s", emulated);
  add_words(table, "emulated bound by", bounds);
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
  std::vector<std::string> whats, places, reasons, sure;
  Counts programs;
  Numbers now, gains;
  for (const LogFinding& finding : std::span(advice.findings).first(shown)) {
    whats.push_back(finding.what);
    places.push_back(finding.where);
    programs.emplace_back(finding.programs);
    now.emplace_back(finding.now.seconds());
    gains.emplace_back(finding.gain.seconds());
    sure.emplace_back(name_of(finding.source));
    reasons.push_back(finding.why);
  }
  Table table{.caption = "what would save time"};
  add_words(table, TableColumn{.title = "change", .room = harness::Room::key}, whats);
  add_words(table, TableColumn{.title = "of", .room = harness::Room::key}, places);
  add_counts(table, "programs", programs);
  add_quantities(table, "now", "s", now);
  add_quantities(table, "gain", "s", gains);
  add_words(table, "certainty", sure);
  make_keys(table, {"now", "gain", "certainty"});
  add_words(table, "because", reasons);
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
