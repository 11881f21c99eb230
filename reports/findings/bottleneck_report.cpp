// SPDX-License-Identifier: Apache-2.0
#include "reports/findings/bottleneck_report.h"

#include <fmt/format.h>
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "profiler/dependencies.h"
#include "reports/tables/columns.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

using profiler::Verdict;
using profiler::WorkSummary;
using Numbers = std::vector<std::optional<double>>;
using Counts = std::vector<std::optional<std::uint64_t>>;

/// Returns "dispatch 63 %"; empty if no time passed.
std::string verdict_text(const WorkSummary& summary) {
  if (summary.time() == SimTime()) return "";
  return fmt::format("{} {:.0f} %", name_of(summary.verdict()),
                     100 * summary.share_of(summary.verdict()));
}

/// Returns the stage that limits most of the kernel time: "unpack 80 %"; empty if none is known.
std::string stage_text(const WorkSummary& summary) {
  if (summary.stages.empty() || summary.busy() == SimTime()) return "";
  const WorkSummary::Stage& longest = summary.stages.front();
  return fmt::format("{} {:.0f} %", longest.name,
                     100 * longest.busy.seconds() / summary.busy().seconds());
}

}  // namespace

Table bottleneck_table(const std::string& what, const std::vector<WorkSummary>& summaries,
                       const WorkSummary& all, std::size_t most) {
  std::vector<std::string> names, verdicts, stages;
  Counts runs;
  Numbers time, shares, cores, intensity, achieved, attainable;
  std::vector<Numbers> parts(5);
  const auto add = [&](const WorkSummary& summary) {
    names.push_back(summary.name);
    verdicts.push_back(verdict_text(summary));
    stages.push_back(stage_text(summary));
    runs.emplace_back(summary.runs);
    time.emplace_back(summary.time().seconds());
    shares.push_back(share(summary.time(), all.time()));
    const std::vector<SimTime> times{summary.idle, summary.compute, summary.dram, summary.excess,
                                     summary.unknown};
    for (std::size_t i = 0; i < times.size(); ++i) {
      parts[i].push_back(share(times[i], summary.time()));
    }
    cores.push_back(summary.cores_used);
    intensity.push_back(summary.intensity());
    achieved.push_back(summary.achieved());
    attainable.push_back(summary.attainable());
  };
  const std::size_t shown = std::min(most, summaries.size());
  for (std::size_t i = 0; i < shown; ++i) add(summaries[i]);
  add(all);

  Table table{.caption = "time by " + what};
  add_words(table, what, names);
  add_counts(table, "programs", runs);
  add_quantities(table, "time", "s", time);
  add_quantities(table, "share", "1", shares);
  add_words(table, "bound by", verdicts);
  add_words(table, "longest stage", stages);
  add_quantities(table, "idle", "1", parts[0]);
  add_quantities(table, "compute", "1", parts[1]);
  add_quantities(table, "DRAM", "1", parts[2]);
  add_quantities(table, "kernel", "1", parts[3]);
  if (all.unknown > SimTime()) add_quantities(table, "unknown", "1", parts[4]);
  add_quantities(table, "cores in use", "1", cores);
  add_quantities(table, "achieved", "FLOP/s", achieved);
  add_quantities(table, "attainable", "FLOP/s", attainable);
  add_quantities(table, "intensity", "FLOP/B", intensity);
  if (shown < summaries.size()) {
    table.notes.push_back(fmt::format("in the last row only: {} more", summaries.size() - shown));
  }
  table.notes.push_back(
      "compute and DRAM: what the work takes at its peaks; kernel: what the kernels took longer");
  return table;
}

Table stages_table(const WorkSummary& all) {
  std::vector<std::string> names;
  Numbers time, shares;
  for (const WorkSummary::Stage& stage : all.stages) {
    names.push_back(stage.name);
    time.emplace_back(stage.busy.seconds());
    shares.push_back(share(stage.busy, all.busy()));
  }
  Table table{.caption = "kernel time by the stage that limits the kernel"};
  add_words(table, "stage", names);
  add_quantities(table, "time", "s", time);
  add_quantities(table, "share", "1", shares);
  return table;
}

Table critical_path_table(const profiler::Timeline& timeline, const profiler::CriticalPath& path) {
  struct Op {
    profiler::NameId name = 0;
    std::uint64_t on = 0;
    std::uint64_t off = 0;
    SimTime time;
    std::optional<SimTime> slack;  ///< The least slack of those off the path.
  };
  std::vector<Op> ops(timeline.names.size());
  std::vector<bool> on_path(timeline.programs.size());
  for (const std::uint32_t i : path.programs) on_path[i] = true;
  for (std::size_t i = 0; i < timeline.programs.size(); ++i) {
    const profiler::ProgramRun& program = timeline.programs[i];
    Op& op = ops[program.name];
    op.name = program.name;
    if (on_path[i]) {
      ++op.on;
      op.time += program.kernel.duration();
    } else {
      ++op.off;
      op.slack = std::min(op.slack.value_or(path.slack[i]), path.slack[i]);
    }
  }
  std::erase_if(ops, [](const Op& op) { return op.on + op.off == 0; });
  std::ranges::stable_sort(ops, [](const Op& a, const Op& b) { return a.time > b.time; });

  std::vector<std::string> names;
  Counts on, off;
  Numbers time, shares, slack;
  for (const Op& op : ops) {
    names.emplace_back(timeline.names.name(op.name));
    on.emplace_back(op.on);
    off.emplace_back(op.off);
    time.emplace_back(op.time.seconds());
    shares.push_back(share(op.time, path.busy + path.idle));
    slack.push_back(op.slack ? std::optional(op.slack->seconds()) : std::nullopt);
  }
  Table table{.caption = "critical path"};
  add_words(table, "op", names);
  add_counts(table, "on path", on);
  add_quantities(table, "time on path", "s", time);
  add_quantities(table, "share", "1", shares);
  add_counts(table, "off path", off);
  add_quantities(table, "least slack", "s", slack);
  if (!path.programs.empty()) {
    table.notes.push_back(fmt::format("the path is {} long, {} of it between programs",
                                      format_quantity((path.busy + path.idle).seconds(), "s"),
                                      format_quantity(path.idle.seconds(), "s")));
  }
  return table;
}

std::vector<Table> bottleneck_tables(const profiler::Timeline& timeline,
                                     std::span<const profiler::OpRun> runs, std::string_view title,
                                     std::size_t top) {
  if (runs.empty()) return {};
  const profiler::Bottlenecks found = profiler::find_bottlenecks(runs);
  const profiler::CriticalPath path =
      profiler::critical_path(timeline, profiler::dependencies_of(timeline));
  std::vector<Table> tables{bottleneck_table("op", found.by_op, found.all, top),
                            stages_table(found.all), critical_path_table(timeline, path)};
  if (timeline.losses > 0) {
    tables.front().notes.push_back(counted(timeline.losses, "event") + " found no room");
  }
  std::erase_if(tables, [](const Table& table) { return table.rows.empty(); });
  for (Table& table : tables) table.caption = fmt::format("{}: {}", title, table.caption);
  return tables;
}

}  // namespace howard::reports
