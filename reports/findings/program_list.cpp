// SPDX-License-Identifier: Apache-2.0
#include "reports/findings/program_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "profiler/silicon/call_facts.h"
#include "reports/findings/op_groups.h"
#include "reports/tables/format.h"
#include "reports/tables/row_columns.h"

namespace howard::reports {
namespace {

using profiler::ProgramRun;

/// Holds a program of the list.
struct ListedProgram {
  const ProgramRun* run = nullptr;
  std::size_t number = 0;  ///< In the order of their starts, from 1.
  SimTime start;           ///< Since the run's first start.
  std::optional<SimTime>
      gap;  ///< Since the end of the device's program before; absent if none was.
};

/// Lists programs and says what they are of.
class ProgramList {
 public:
  ProgramList(const profiler::Log& log, std::size_t run, const LogAdvice& advice)
      : log_(log), run_(log.runs[run]) {
    for (const profiler::CallUse& use : advice.uses) bounds_[use.call] = profiler::bound_of(use);
  }

  std::vector<ListedProgram> listed(const ProgramFilter& filter) const {
    std::vector<const ProgramRun*> ordered;
    for (const ProgramRun& program : run_.timeline.programs) ordered.push_back(&program);
    std::ranges::stable_sort(ordered, {}, [](const ProgramRun* one) { return one->kernel.start; });
    std::vector<ListedProgram> programs;
    std::map<std::uint16_t, SimTime> ends;
    const std::string wanted = lower_case(filter.op);
    for (std::size_t i = 0; i < ordered.size(); ++i) {
      const ProgramRun& program = *ordered[i];
      ListedProgram one{.run = &program, .number = i + 1};
      one.start = program.kernel.start - ordered.front()->kernel.start;
      const auto [end, is_first] = ends.try_emplace(program.device, program.kernel.end);
      if (!is_first && run_.knows_starts) {
        one.gap = std::max(SimTime(), program.kernel.start - end->second);
      }
      end->second = std::max(end->second, program.kernel.end);
      const bool is_named = lower_case(op(program)).find(wanted) != std::string::npos;
      if (is_named && program.kernel.duration() > filter.longer_than) programs.push_back(one);
    }
    return programs;
  }

  std::string_view op(const ProgramRun& program) const {
    return run_.timeline.names.name(program.name);
  }
  std::string_view section(const ProgramRun& program) const {
    return run_.timeline.names.name(program.section);
  }
  std::string operands(const ProgramRun& program) const {
    if (program.call == 0) return "";
    return profiler::facts_of(log_.calls.row(program.call)).short_operands;
  }
  std::string_view bound(const ProgramRun& program) const {
    const auto found = bounds_.find(program.call);
    return found != bounds_.end() ? found->second : std::string_view();
  }
  bool has_several_devices() const { return run_.devices.size() > 1; }

 private:
  const profiler::Log& log_;
  const profiler::LoggedRun& run_;
  std::map<std::uint32_t, std::string_view> bounds_;
};

}  // namespace

Table program_table(const profiler::Log& log, std::size_t run, const LogAdvice& advice,
                    const ProgramFilter& filter, std::string_view title, std::size_t most) {
  const ProgramList list(log, run, advice);
  std::vector<ListedProgram> programs = list.listed(filter);
  const std::size_t all = programs.size();
  programs.resize(std::min(most, all));
  Table table{.caption = fmt::format("{}: programs in order", title)};
  const RowColumns columns(table, programs);
  columns.counts("program", [](const ListedProgram& one) { return std::optional(one.number); });
  columns.quantities("start", "s", &ListedProgram::start);
  columns.quantities("gap before", "s", &ListedProgram::gap);
  columns.quantities("time", "s",
                     [](const ListedProgram& one) { return one.run->kernel.duration(); });
  columns.keys("op", [&](const ListedProgram& one) { return brief_name(list.op(*one.run)); });
  columns.keys("operands", [&](const ListedProgram& one) { return list.operands(*one.run); });
  columns.words("cores", [](const ListedProgram& one) {
    return one.run->cores > 0 ? fmt::to_string(one.run->cores) : std::string();
  });
  columns.words("bound", [&](const ListedProgram& one) { return list.bound(*one.run); });
  if (list.has_several_devices()) {
    columns.words("device",
                  [](const ListedProgram& one) { return fmt::to_string(one.run->device); });
  }
  columns.words("section", [&](const ListedProgram& one) { return list.section(*one.run); });
  columns.words("compiled", [](const ListedProgram& one) {
    return std::string(one.run->compiled ? "yes" : "");
  });
  make_keys(table, {"program", "time", "gap before"});
  if (all == 0) {
    table.notes.push_back(
        fmt::format("none of {} fits --op and --longer-than",
                    counted(log.runs.at(run).timeline.programs.size(), "program")));
  }
  if (all > most) {
    table.notes.push_back(fmt::format("{}; --json and --csv have all of them, --top N shows more",
                                      counted(all - most, "more program")));
  }
  return table;
}

harness::ExperimentResult program_result(const profiler::Log& log,
                                         const std::vector<LogAdvice>& advice,
                                         const ProgramFilter& filter, const std::string& name,
                                         const harness::RunContext& context) {
  harness::ExperimentResult result{.experiment = name_of(harness::CommandResult::log_programs),
                                   .context = context,
                                   .points = {}};
  static const LogAdvice kNone;
  for (std::size_t run = 0; run < log.runs.size(); ++run) {
    const ProgramList list(log, run, run < advice.size() ? advice[run] : kNone);
    for (const ListedProgram& one : list.listed(filter)) {
      harness::PointResult point{.backend = harness::Backend::log,
                                 .parameters = {{"log", name},
                                                {"run", std::to_string(run + 1)},
                                                {"program", std::to_string(one.number)}}};
      const auto time = [&](std::string metric, SimTime value) {
        point.metrics.push_back({.name = std::move(metric), .value = value.seconds(), .unit = "s"});
      };
      time("start", one.start);
      time("time", one.run->kernel.duration());
      if (one.gap) time("gap", *one.gap);
      const auto detail = [&](std::string key, std::string_view text) {
        if (!text.empty()) point.details.emplace_back(std::move(key), text);
      };
      detail("op", list.op(*one.run));
      detail("operands", list.operands(*one.run));
      detail("bound", list.bound(*one.run));
      detail("device", std::to_string(one.run->device));
      if (one.run->cores > 0) detail("cores", std::to_string(one.run->cores));
      detail("section", list.section(*one.run));
      if (one.run->compiled) detail("compiled", "yes");
      result.points.push_back(std::move(point));
    }
  }
  return result;
}

}  // namespace howard::reports
