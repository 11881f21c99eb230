// SPDX-License-Identifier: Apache-2.0
#include "reports/findings/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "harness/what_if.h"
#include "reports/findings/op_groups.h"
#include "reports/pictures/bar_picture.h"
#include "reports/pictures/palette.h"
#include "reports/tables/cell_text.h"
#include "reports/tables/columns.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

using harness::Parameters;
using harness::PointResult;
using profiler::Cost;
using profiler::TimeAccount;
using profiler::Verdict;
using profiler::WorkSummary;

/// A smaller change counts as none.
constexpr double kNoticed = 0.02;
constexpr std::size_t kMostCosts = 3;

const WorkSummary& all_of(const TimeAccount& run) { return run.bottlenecks.all; }

const WorkSummary& summary_of(const TimeAccount& run, std::string_view op) {
  return *std::ranges::find(run.bottlenecks.by_op, op, &WorkSummary::name);
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

/// Returns "; time 1.88 ms, expected error 6 % (calibrated 82 %, by analogy 18 %)", or ""
/// where that is not known.
std::string expected_error(const TimeAccount& run) {
  if (!run.expected_error) return "";
  return fmt::format("; time {}, expected error {:.0f} % ({})", format_time(run.time),
                     100 * *run.expected_error, run.known);
}

/// Returns "engine traced, batch 256".
std::string settings_of(const Parameters& parameters) {
  std::vector<std::string> words;
  for (const auto& [axis, value] : parameters) words.push_back(axis + " " + value);
  return join(words, ", ");
}

/// Returns what an op's time is made of: "DRAM 14 %, beyond 86 %; in1 reads".
std::string kernels_text(const WorkSummary& op) {
  const double busy = op.busy().seconds();
  std::string text;
  if (op.unknown < op.busy()) {
    const auto add = [&](std::string_view what, SimTime part) {
      if (part == SimTime()) return;
      text +=
          fmt::format("{}{} {}", text.empty() ? "" : ", ", what, percent(part.seconds() / busy));
    };
    add("compute", op.compute);
    add("DRAM", op.dram);
    add("beyond", op.excess);
  }
  if (op.stages.empty()) return text;
  return fmt::format("{}{}{}", text, text.empty() ? "" : "; ", op.stages.front().name);
}

std::string cost_name(const Cost& cost) {
  return cost.waiting ? "waiting: " + cost.name : "running: " + cost.name;
}

/// Returns the table of a time that was worked out.
Table parts_table(const TimeAccount& run) {
  std::vector<std::string> names;
  std::vector<std::optional<double>> times, shares;
  const double all = run.time.seconds();
  const auto add = [&](std::string name, SimTime time) {
    names.push_back(std::move(name));
    times.emplace_back(time.seconds());
    shares.emplace_back(all > 0 ? time.seconds() / all : 0);
  };
  for (const Cost& part : run.costs) add(part.name, part.time);
  add("all of it", run.time);
  Table table{.caption = verdict_sentence(run) + expected_error(run)};
  add_words(table, "where the time goes", names);
  add_quantities(table, "time", "s", times);
  add_quantities(table, "share", "1", shares);
  if (!run.shortage.empty()) table.notes.push_back("it does not fit: " + run.shortage);
  return table;
}

Table costs_table(const Explanation& explanation) {
  if (explanation.run.worked_out) return parts_table(explanation.run);
  const std::vector<Cost> costs = explanation.run.costs_of_iteration();
  const std::size_t shown = std::min(kMostCosts, costs.size());
  std::vector<std::string> names, remarks;
  std::vector<std::optional<double>> times, shares;
  const double all = explanation.whole(explanation.run).seconds();
  const auto add = [&](std::string name, SimTime time, std::string remark) {
    names.push_back(std::move(name));
    remarks.push_back(std::move(remark));
    times.emplace_back(time.seconds());
    shares.emplace_back(all > 0 ? time.seconds() / all : 0);
  };
  SimTime rest = explanation.run.time;
  for (std::size_t i = 0; i < shown; ++i) {
    const Cost& cost = costs[i];
    add(cost_name(cost), cost.time,
        cost.waiting
            ? "no program runs"
            : fmt::format("{} x; {}",
                          cost.programs / static_cast<std::uint64_t>(explanation.run.iterations),
                          kernels_text(summary_of(explanation.run, cost.name))));
    rest = rest - cost.time;
  }
  if (shown < costs.size()) add("the rest", rest, fmt::format("{} more", costs.size() - shown));
  if (explanation.beside > SimTime()) add("not emulated", explanation.beside, "as logged");
  add("an iteration", explanation.whole(explanation.run), "");
  Table table{.caption = explanation.headline.empty()
                             ? verdict_sentence(explanation.run) + expected_error(explanation.run)
                             : explanation.headline};
  add_words(table, "largest costs", names);
  add_quantities(table, "time", "s", times);
  add_quantities(table, "share", "1", shares);
  add_words(table, "of it", remarks);
  table.notes.emplace_back(
      "compute, DRAM: at their peaks; beyond: what kernels take longer, and their longest stage");
  return table;
}

bool is_faster(double gain) { return gain >= 1 + kNoticed; }
bool is_slower(double gain) { return gain <= 1 - kNoticed; }

std::string_view effect_of(double gain) {
  if (is_faster(gain)) return "helps";
  return is_slower(gain) ? "is slower" : "does not help";
}

/// Returns "helps", or "helps; does not fit: over by 2.1 GiB".
std::string effect_text(const Explanation& explanation, const TriedChange& change) {
  const std::string effect(effect_of(explanation.gain(change)));
  if (change.run.shortage.empty()) return effect;
  return fmt::format("{}; does not fit: {}", effect, change.run.shortage);
}

/// Returns "2.31x".
Cell gain_cell(double gain) {
  const Tone tone = is_faster(gain) ? Tone::good : is_slower(gain) ? Tone::bad : Tone::plain;
  return {.text = fmt::format("{:.2f}x", gain), .tone = tone};
}

Table changes_table(const Explanation& explanation) {
  std::vector<std::string> names, effects, options;
  std::vector<std::optional<double>> times;
  for (const TriedChange& change : explanation.tried) {
    names.push_back(change.candidates == 1
                        ? change.what
                        : fmt::format("{} (best of {})", change.what, change.candidates));
    times.emplace_back(explanation.whole(change.run).seconds());
    effects.push_back(effect_text(explanation, change));
    options.push_back(change.how);
  }
  Table table{.caption = fmt::format("what if, each run on the emulator: {}, {}",
                                     explanation.experiment, settings_of(explanation.parameters))};
  add_words(table, "one thing changed", names);
  add_quantities(table, "time", "s", times);
  table.columns.push_back({.title = "gain", .number = true});
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    table.rows[i].cells.push_back(gain_cell(explanation.gain(explanation.tried[i])));
  }
  add_words(table, "effect", effects);
  make_keys(table, {"time", "gain", "effect"});
  add_words(table, TableColumn{.title = "how", .room = harness::Room::whole}, options);
  if (!explanation.tried.empty()) {
    table.notes.push_back("how: these options, for those of the same names, in " +
                          explanation.command);
  }
  table.notes.insert(table.notes.end(), explanation.notes.begin(), explanation.notes.end());
  for (const std::string& warning : explanation.run.warnings) {
    table.notes.push_back("warning: " + warning);
  }
  for (const TriedChange& change : explanation.tried) {
    if (!is_faster(explanation.gain(change))) continue;
    for (const std::string& warning : change.run.warnings) {
      if (std::ranges::find(explanation.run.warnings, warning) == explanation.run.warnings.end()) {
        table.notes.push_back(fmt::format("{}: {}", change.what, warning));
      }
    }
  }
  if (explanation.tried.empty() && explanation.untried.empty()) {
    table.notes.push_back(explanation.experiment + " lists no changes to try");
  }
  for (const UntriedChange& change : explanation.untried) {
    table.notes.push_back(fmt::format("not tried: {}: {}", change.what, change.reason));
  }
  return table;
}

/// Returns the kernels of a log beside those of the emulator.
Table checked_table(const std::vector<CheckedOp>& checked) {
  constexpr std::size_t kMostOps = 12;
  const auto shown = std::span(checked).first(std::min(kMostOps, checked.size()));
  std::vector<CheckedOp> rows(shown.begin(), shown.end());
  rows.push_back(sum_of(checked));
  std::vector<std::string> ops, errors, aparts;
  std::vector<std::optional<std::uint64_t>> runs;
  std::vector<std::optional<double>> logged, emulated;
  for (const CheckedOp& one : rows) {
    ops.emplace_back(brief_name(one.op));
    runs.emplace_back(one.runs);
    logged.emplace_back(one.logged.seconds());
    emulated.emplace_back(one.emulated.seconds());
    errors.push_back(format_error(one.emulated.seconds() / one.logged.seconds() - 1));
    aparts.push_back(fmt::format("{:.1f}", 100 * one.apart.seconds() / one.logged.seconds()));
  }
  Table table{.caption = "kernels: the emulator beside the log"};
  add_words(table, "op", ops);
  add_counts(table, "programs", runs);
  add_quantities(table, "logged", "s", logged);
  add_quantities(table, "emulated", "s", emulated);
  const auto add_percents = [&](std::string title, const std::vector<std::string>& texts) {
    table.columns.push_back({.title = std::move(title), .unit = "%", .number = true});
    for (std::size_t i = 0; i < texts.size(); ++i) table.rows[i].cells.push_back({texts[i]});
  };
  add_percents("error", errors);
  add_percents("a program", aparts);
  if (rows.size() <= checked.size()) {
    table.notes.push_back(counted(checked.size() + 1 - rows.size(), "more op"));
  }
  table.notes.emplace_back(
      "error: of the sum; a program: how far each is off, without its sign, by time");
  return table;
}

/// Returns the name of the point, without the values that nobody chose.
std::string title_of(const Explanation& explanation) {
  Parameters set = explanation.parameters;
  std::erase_if(set, [](const auto& parameter) { return parameter.second == "default"; });
  return explanation.experiment + ", " + settings_of(set);
}

harness::Metric time_metric(std::string name, SimTime time) {
  return {.name = std::move(name), .value = time.seconds(), .unit = "s", .virtual_time = time};
}

std::string metric_name(const Cost& cost) {
  std::string name = (cost.waiting ? "waiting_" : "running_") + cost.name;
  std::ranges::replace(name, ' ', '_');
  return name;
}

/// Returns the times by verdict: waiting, computing, moving data, and what kernels take beyond. The
/// last one includes kernels about which nothing is known.
std::array<double, 4> parts_of(const TimeAccount& run) {
  const WorkSummary& all = all_of(run);
  const double whole = all.time().seconds();
  if (whole <= 0) return {};
  return {all.idle.seconds() / whole, all.compute.seconds() / whole, all.dram.seconds() / whole,
          (all.excess + all.unknown).seconds() / whole};
}

/// Returns the legend of a picture of such runs.
std::vector<BarPart> picture_parts(const TimeAccount& run) {
  if (!run.worked_out) {
    return {{"no program runs", std::string(kRestColor)},
            {"arithmetic at its peak", std::string(series_color(0))},
            {"DRAM at its peak", std::string(series_color(2))},
            {"kernels beyond both", std::string(series_color(1))}};
  }
  std::vector<BarPart> parts;
  for (std::size_t i = 0; i < run.costs.size(); ++i) {
    parts.push_back({run.costs[i].name, std::string(part_color(run.costs[i].name))});
  }
  return parts;
}

/// Returns the shares of a run's time in the order of the picture's legend, which is that of
/// `first`.
std::vector<double> shares_of(const TimeAccount& run, const TimeAccount& first) {
  if (!first.worked_out) {
    const auto parts = parts_of(run);
    return {parts.begin(), parts.end()};
  }
  std::vector<double> shares;
  for (const Cost& part : first.costs) {
    const auto found = std::ranges::find(run.costs, part.name, &Cost::name);
    const bool is_there = found != run.costs.end() && run.time > SimTime();
    shares.push_back(is_there ? found->time.seconds() / run.time.seconds() : 0);
  }
  return shares;
}

/// Kernels may be busy and still not be what the time depends on.
std::string pace_sentence(const TimeAccount& run) {
  const bool host = run.pace() == profiler::Pace::host;
  const SimTime working = host ? run.host_working : run.dispatcher_working;
  return fmt::format(
      "dispatch-bound: the {} for {} of {} and sets the pace; the cores wait for {} of it",
      host ? "host is busy with its calls" : "dispatcher is busy",
      percent(working.seconds() / run.window.duration().seconds()), format_time(run.time),
      percent(parts_of(run)[0]));
}

void describe(const TimeAccount& run, PointResult& point) {
  point.metrics.push_back(time_metric("time", run.time));
  if (run.expected_error) {
    point.add(harness::ExpectedError{.share = *run.expected_error, .known = run.known});
  }
  point.warnings = run.warnings;
  if (run.worked_out) {
    for (const Cost& part : run.costs) {
      point.metrics.push_back(time_metric("part." + part.name, part.time));
    }
    point.add(harness::kBoundBy, run.bound());
    return;
  }
  constexpr std::array kNames{"share_waiting", "share_compute", "share_dram", "share_kernel"};
  const auto parts = parts_of(run);
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    point.metrics.push_back({.name = kNames.at(i), .value = parts.at(i), .unit = "1"});
  }
  point.add(harness::kBoundBy, run.bound());
  for (const Cost& cost : run.costs_of_iteration()) {
    point.metrics.push_back(time_metric(metric_name(cost), cost.time));
  }
}

PointResult point_of(const Explanation& explanation, const Parameters& changes) {
  PointResult point{.backend = harness::Backend::emulated};
  point.parameters = {{"explained", explanation.experiment}};
  const Parameters changed = harness::changed(explanation.parameters, changes);
  point.parameters.insert(point.parameters.end(), changed.begin(), changed.end());
  return point;
}

}  // namespace

CheckedOp sum_of(const std::vector<CheckedOp>& checked) {
  CheckedOp all{.op = "all"};
  for (const CheckedOp& one : checked) {
    all.runs += one.runs;
    all.logged += one.logged;
    all.emulated += one.emulated;
    all.apart += one.apart;
  }
  return all;
}

std::string verdict_sentence(const TimeAccount& run) {
  if (run.worked_out) {
    const Cost& largest = run.costs.front();
    return fmt::format("{} is {} of {}", largest.name,
                       percent(largest.time.seconds() / run.time.seconds()), format_time(run.time));
  }
  const WorkSummary& all = all_of(run);
  const std::string share =
      fmt::format("{} of {}", percent(all.share_of(run.verdict())), format_time(run.time));
  const auto worst = [&](bool waiting) {
    const auto found = std::ranges::find(run.costs, waiting, &Cost::waiting);
    return found == run.costs.end() ? std::string() : found->name;
  };
  switch (run.verdict()) {
    case Verdict::dispatch_bound:
      if (run.pace() != profiler::Pace::neither) return pace_sentence(run);
      return fmt::format("dispatch-bound: for {} the cores wait for the next program, mostly: {}",
                         share, worst(true));
    case Verdict::compute_bound:
      return fmt::format("compute-bound: {} is arithmetic at the peak of all cores", share);
    case Verdict::dram_bound:
      return fmt::format("DRAM-bound: {} is data moved at the peak of the DRAM", share);
    case Verdict::kernel_inefficient:
      return fmt::format(
          "kernel-inefficient: for {} kernels run longer than arithmetic and DRAM need, mostly: {}",
          share, all.stages.empty() ? worst(false) : all.stages.front().name);
    case Verdict::unknown:
      break;
  }
  return fmt::format("what {} is spent on is not known", format_time(run.time));
}

std::vector<Table> explanation_tables(const Explanation& explanation) {
  std::vector<Table> tables{costs_table(explanation), changes_table(explanation)};
  if (!explanation.checked.empty()) tables.push_back(checked_table(explanation.checked));
  return tables;
}

harness::Presentation explanation_presentation() {
  using harness::CellSource;
  return {.columns = {{"what if", CellSource::detail, "what_if"},
                      {"time", CellSource::metric, "time"},
                      {"gain", CellSource::metric, "gain"},
                      {"effect", CellSource::detail, "effect"},
                      {"bound by", CellSource::detail, "bound_by"},
                      {"waiting", CellSource::metric, "share_waiting"},
                      {"compute", CellSource::metric, "share_compute"},
                      {"DRAM", CellSource::metric, "share_dram"},
                      {"kernel", CellSource::metric, "share_kernel"},
                      {"verdict", CellSource::detail, "verdict"}},
          .plots = {}};
}

harness::ExperimentResult explanation_result(const Explanation& explanation,
                                             const harness::RunContext& context) {
  harness::ExperimentResult result{
      .experiment = name_of(harness::CommandResult::explain), .context = context, .points = {}};
  PointResult base = point_of(explanation, {});
  describe(explanation.run, base);
  base.details.emplace_back("verdict", explanation.headline.empty()
                                           ? verdict_sentence(explanation.run)
                                           : explanation.headline);
  if (explanation.beside > SimTime()) {
    base.metrics.push_back(time_metric("not_emulated", explanation.beside));
  }
  for (const CheckedOp& one : explanation.checked) {
    base.metrics.push_back(time_metric("logged." + one.op, one.logged));
    base.metrics.push_back(time_metric("emulated." + one.op, one.emulated));
  }
  base.details.emplace_back("command", explanation.command);
  for (std::size_t i = 0; i < explanation.notes.size(); ++i) {
    base.details.emplace_back(fmt::format("note {}", i + 1), explanation.notes[i]);
  }
  for (const UntriedChange& change : explanation.untried) {
    base.details.emplace_back("not tried: " + change.what, change.reason);
  }
  result.points.push_back(std::move(base));
  for (const TriedChange& change : explanation.tried) {
    PointResult point = point_of(explanation, change.changes);
    describe(change.run, point);
    const double gain = explanation.gain(change);
    point.metrics.push_back(
        {.name = "gain", .value = gain, .unit = "1", .better = harness::Better::higher});
    point.details.emplace_back("what_if", change.what);
    point.details.emplace_back("how", change.how);
    point.details.emplace_back("candidates", std::to_string(change.candidates));
    point.details.emplace_back("effect", effect_text(explanation, change));
    result.points.push_back(std::move(point));
  }
  return result;
}

PlotFiles write_explanation_plot(const Explanation& explanation, const Canvas& canvas) {
  std::vector<double> times{explanation.run.time.seconds()};
  for (const TriedChange& change : explanation.tried) times.push_back(change.run.time.seconds());
  const Scale scale = fit_scale("s", times);
  BarPicture picture{.name = "explain",
                     .title = title_of(explanation),
                     .label = with_unit("time of an iteration", scale.unit),
                     .parts = picture_parts(explanation.run),
                     .headings = {with_unit("time", scale.unit), "gain"},
                     .longest = in_unit(*std::ranges::max_element(times), scale),
                     .line = in_unit(times.front(), scale)};
  const auto add = [&](std::string name, const TimeAccount& run, std::string gain) {
    const double time = run.time.seconds();
    BarRow row{.name = std::move(name), .cells = {format_number(time, scale), std::move(gain)}};
    double end = 0;
    for (const double part : shares_of(run, explanation.run)) {
      row.ends.push_back(end += part * in_unit(time, scale));
    }
    picture.rows.push_back(std::move(row));
  };
  add("as it is", explanation.run, "");
  for (const TriedChange& change : explanation.tried) {
    add(change.what, change.run, fmt::format("{:.2f}x", explanation.gain(change)));
  }
  return write_bars(picture, canvas);
}

}  // namespace howard::reports
