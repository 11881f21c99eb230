// SPDX-License-Identifier: Apache-2.0
#include "reports/findings/op_groups.h"

#include <algorithm>
#include <functional>

namespace howard::reports {

std::vector<OpGroup> group_programs(const profiler::Timeline& timeline,
                                    profiler::NameId profiler::ProgramRun::*member) {
  std::vector<OpGroup> groups(timeline.names.size());
  for (const profiler::ProgramRun& program : timeline.programs) {
    OpGroup& group = groups[program.*member];
    const SimTime duration = program.kernel.duration();
    group.name = program.*member;
    group.shortest = group.runs == 0 ? duration : std::min(group.shortest, duration);
    group.longest = std::max(group.longest, duration);
    group.time += duration;
    ++group.runs;
  }
  std::erase_if(groups, [](const OpGroup& group) { return group.runs == 0; });
  std::ranges::stable_sort(groups, std::ranges::greater(), &OpGroup::time);
  return groups;
}

std::string_view brief_name(std::string_view op) {
  for (const std::string_view ending : {"DeviceOperation", "Operation"}) {
    if (op.ends_with(ending) && op.size() > ending.size()) {
      return op.substr(0, op.size() - ending.size());
    }
  }
  return op;
}

SimTime total_time(std::span<const OpGroup> groups) {
  SimTime time;
  for (const OpGroup& group : groups) time += group.time;
  return time;
}

}  // namespace howard::reports
