// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/joined_logs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/error.h"

namespace howard::profiler {
namespace {

/// Returns the new number of each device of a run, from `next` on, which is moved behind them.
std::map<std::uint16_t, std::uint16_t> renumbered(const LoggedRun& run, std::uint16_t& next) {
  std::map<std::uint16_t, std::uint16_t> numbers;
  for (const ProgramRun& program : run.timeline.programs) numbers.try_emplace(program.device, 0);
  for (const LoggedDevice& device : run.devices) numbers.try_emplace(device.id, 0);
  for (auto& [old, number] : numbers) number = next++;
  return numbers;
}

/// Returns the numbers in `to` of the calls of a log, by their numbers there.
std::vector<std::uint32_t> merged_calls(const OpCalls& calls, OpCalls& to) {
  std::vector<std::uint32_t> numbers{0};
  for (std::uint32_t id = 1; id <= calls.size(); ++id) numbers.push_back(to.id(calls.row(id)));
  return numbers;
}

void append_run(const LoggedRun& run, const std::map<std::uint16_t, std::uint16_t>& numbers,
                const std::vector<std::uint32_t>& calls, LoggedRun& to) {
  NameTable& names = to.timeline.names;
  const auto name_in = [&](NameId name) { return names.id(run.timeline.names.name(name)); };
  for (ProgramRun program : run.timeline.programs) {
    program.name = name_in(program.name);
    program.section = name_in(program.section);
    program.device = numbers.at(program.device);
    program.call = calls[program.call];
    to.timeline.programs.push_back(program);
  }
  for (Activity activity : run.timeline.activities) {
    const auto found = numbers.find(activity.device);
    if (found != numbers.end()) activity.device = found->second;
    to.timeline.activities.push_back(activity);
  }
  for (LoggedDevice device : run.devices) {
    device.id = numbers.at(device.id);
    to.devices.push_back(device);
  }
  for (HostOp op : run.host_ops) {
    op.name = name_in(op.name);
    to.host_ops.push_back(op);
  }
  to.timeline.losses += run.timeline.losses;
  to.knows_starts = to.knows_starts && run.knows_starts;
}

}  // namespace

Log join_logs(std::span<const Log* const> logs, std::span<const std::string> names) {
  Log joined;
  const std::size_t runs = logs.front()->runs.size();
  for (std::size_t i = 0; i < logs.size(); ++i) {
    if (logs[i]->runs.size() == runs) continue;
    throw Error(
        {.attempted = "join " + names[i] + " with " + names.front(),
         .value = fmt::format("it has {} runs, and the other has {}", logs[i]->runs.size(), runs),
         .accepted = "logs of one program, with equally many runs",
         .hint = "without --join each file is shown alone"});
  }
  std::vector<std::vector<std::uint32_t>> calls;
  for (const Log* const log : logs) calls.push_back(merged_calls(log->calls, joined.calls));
  for (std::size_t run = 0; run < runs; ++run) {
    LoggedRun& to = joined.runs.emplace_back();
    std::uint16_t next = 0;
    for (std::size_t i = 0; i < logs.size(); ++i) {
      const std::uint16_t first = next;
      append_run(logs[i]->runs[run], renumbered(logs[i]->runs[run], next), calls[i], to);
      if (run > 0 || next == first) continue;
      joined.notes.push_back(
          next - first == 1 ? fmt::format("device {} is of {}", first, names[i])
                            : fmt::format("devices {} to {} are of {}", first, next - 1, names[i]));
    }
  }
  for (std::size_t i = 0; i < logs.size(); ++i) {
    for (const std::string& note : logs[i]->notes) joined.notes.push_back(names[i] + ": " + note);
    for (const auto& reason : logs[i]->dropped.reasons()) {
      joined.notes.push_back(names[i] + ": left out " + describe(reason));
    }
  }
  return joined;
}

}  // namespace howard::profiler
