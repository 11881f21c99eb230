// SPDX-License-Identifier: Apache-2.0
#include "reports/findings/bottleneck_report.h"

#include <fmt/format.h>
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "profiler/dependencies.h"
#include "reports/tables/format.h"
#include "reports/tables/row_columns.h"

namespace howard::reports {
namespace {

using profiler::Verdict;
using profiler::WorkSummary;

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
  const std::size_t shown = std::min(most, summaries.size());
  std::vector<WorkSummary> rows(summaries.begin(),
                                summaries.begin() + static_cast<std::ptrdiff_t>(shown));
  rows.push_back(all);
  const auto part = [](SimTime WorkSummary::*time) {
    return [=](const WorkSummary& summary) { return share(summary.*time, summary.time()); };
  };
  Table table{.caption = "time by " + what};
  const RowColumns columns(table, rows);
  columns.words(what, &WorkSummary::name);
  columns.counts("programs", &WorkSummary::runs);
  columns.quantities("time", "s", &WorkSummary::time);
  columns.quantities("share", "1",
                     [&](const WorkSummary& summary) { return share(summary.time(), all.time()); });
  columns.words("bound by", verdict_text);
  columns.words("longest stage", stage_text);
  columns.quantities("idle", "1", part(&WorkSummary::idle));
  columns.quantities("compute", "1", part(&WorkSummary::compute));
  columns.quantities("DRAM", "1", part(&WorkSummary::dram));
  columns.quantities("kernel", "1", part(&WorkSummary::excess));
  if (all.unknown > SimTime()) columns.quantities("unknown", "1", part(&WorkSummary::unknown));
  columns.quantities("cores in use", "1", &WorkSummary::cores_used);
  columns.quantities("achieved", "FLOP/s", &WorkSummary::achieved);
  columns.quantities("attainable", "FLOP/s", &WorkSummary::attainable);
  columns.quantities("intensity", "FLOP/B", &WorkSummary::intensity);
  if (shown < summaries.size()) {
    table.notes.push_back(fmt::format("in the last row only: {} more", summaries.size() - shown));
  }
  table.notes.push_back(
      "compute and DRAM: what the work takes at its peaks; kernel: what the kernels took longer");
  return table;
}

Table stages_table(const WorkSummary& all) {
  Table table{.caption = "kernel time by the stage that limits the kernel"};
  const RowColumns columns(table, all.stages);
  columns.words("stage", &WorkSummary::Stage::name);
  columns.quantities("time", "s", &WorkSummary::Stage::busy);
  columns.quantities(
      "share", "1", [&](const WorkSummary::Stage& stage) { return share(stage.busy, all.busy()); });
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

  Table table{.caption = "critical path"};
  const RowColumns columns(table, ops);
  columns.words("op", [&](const Op& op) { return timeline.names.name(op.name); });
  columns.counts("on path", &Op::on);
  columns.quantities("time on path", "s", &Op::time);
  columns.quantities("share", "1",
                     [&](const Op& op) { return share(op.time, path.busy + path.idle); });
  columns.counts("off path", &Op::off);
  columns.quantities("least slack", "s", &Op::slack);
  if (!path.programs.empty()) {
    table.notes.push_back(fmt::format("the path is {} long, {} of it between programs",
                                      format_time(path.busy + path.idle), format_time(path.idle)));
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
